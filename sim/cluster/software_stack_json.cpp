// Software profiles <-> JSON ("format": "meshwright.software/2"; 1 for stacks within plans).
#include <algorithm>
#include <filesystem>

#include "sim/cluster/profile_fields_json.h"
#include "sim/cluster/software_stack.h"
#include "sim/cluster/unread_numbers_json.h"
#include "sim/units/profile_search.h"

namespace sim {
namespace {

constexpr std::string_view kSoftwareFormats[] = {"meshwright.software/1", "meshwright.software/2"};
constexpr JsonReader::Range kFactor = {0, 100}, kGain = {1e-3, 100};  // a gain of 0: nothing would ever end

template <class Stack, class Field>
void each_fusion(Stack& stack, const Field& field) {
  field("fused_norm", stack.fused_norm);
  field("fused_activation", stack.fused_activation);
  field("fused_residual", stack.fused_residual);
  field("fused_rotary", stack.fused_rotary);
  field("fused_loss", stack.fused_loss);
  field("fused_optimizer", stack.fused_optimizer);
  field("fused_softmax", stack.fused_softmax);
  field("fused_accumulation", stack.fused_accumulation);
  field("cached_fp8_weights", stack.cached_fp8_weights);
  field("gathers_fp8", stack.gathers_fp8);
  field("masked_loss", stack.masked_loss);
  field("scales_when_used", stack.scales_when_used);
  field("vocabulary_parallel", stack.vocabulary_parallel);
  field("dropout", stack.dropout);
  field("compiled", stack.compiled);
  field("compiled_loss", stack.compiled_loss);
  field("flash", stack.flash);
  field("attention", stack.attention);
  field("ring_overhead", stack.ring_overhead, kFactor);
  field("attention_gain", stack.attention_gain, kGain);
}

template <class Stack, class Field>
void each_communication(Stack& stack, const Field& field) {
  field("overlap_reduce", stack.overlap_reduce);
  field("overlap_gather", stack.overlap_gather);
  field("overlap_tensor", stack.overlap_tensor);
  field("overlap_pipeline", stack.overlap_pipeline);
  field("overlap_input_gradient", stack.overlap_input_gradient);
  field("expert_tensor", stack.expert_tensor);
  field("dispatch_share", stack.dispatch_share, {0, 1});
  field("scatter_gather", stack.scatter_gather);
  field("broadcast_start", stack.broadcast_start);
  field("zero1_all_reduce", stack.zero1_all_reduce);
  field("reduce_bytes", stack.reduce_bytes, {1, 8});
  field("accumulate_bytes", stack.accumulate_bytes, {1, 8});
}

// Those that block "fitted" may state again: see sim/validation/fit.h.
template <class Stack, class Field>
void each_constant(Stack& stack, const Field& field) {
  field("matrix_share", stack.matrix_share, kGain);
  field("network_share", stack.network_share, kGain);
  field("overlap_slowdown", stack.overlap_slowdown, kFactor);
  field("host_per_kernel", stack.host_per_kernel);
  field("pipeline_sync", stack.pipeline_sync);
  field("step_overhead", stack.step_overhead);
  field("interval", stack.interval, {0, 0.95});
}

template <class Stack, class Field>
void each_memory(Stack& stack, const Field& field) {
  constexpr JsonReader::Range kElementBytes = {0, 64};
  field("owner_gradient_bytes", stack.owner_gradient_bytes, kElementBytes);
  field("loss_bytes", stack.loss_bytes, kElementBytes);
  field("cut_loss_bytes", stack.cut_loss_bytes, kElementBytes);
  field("fused_loss_bytes", stack.fused_loss_bytes, kElementBytes);
  field("shows_reserved", stack.shows_reserved);
  field("held_messages", stack.held_messages, {0, 3});
  field("keeps_gathered", stack.keeps_gathered);
  field("stages_gathers", stack.stages_gathers);
  field("repeats_keys", stack.repeats_keys);
  field("gathers_context", stack.gathers_context);
  field("weights_activation", stack.weights_activation);
  field("plain_optimizer", stack.plain_optimizer);
  field("context_gib", stack.context_gib, kFactor);
  field("fragmentation", stack.fragmentation, kFactor);
}

// Written where they are not as usual: plan files from before they were, and the hashes of their plans, stay as they are.
template <class Stack, class Field>
void each_habit(Stack& stack, const Field& field) {
  field("own_memory", stack.own_memory);
  field("repeats_blocks", stack.repeats_blocks);
  field("early_stop", stack.early_stop);
  field("keeps_masks", stack.keeps_masks);
  field("keeps_unrotated", stack.keeps_unrotated);
  field("keeps_scaled_inputs", stack.keeps_scaled_inputs);
  field("shards_masters", stack.shards_masters);
  field("keeps_both_gradients", stack.keeps_both_gradients);
  field("keeps_buckets", stack.keeps_buckets);
  field("fills_buckets", stack.fills_buckets);
  field("unit_buffers", stack.unit_buffers);
  field("root_unit", stack.root_unit);
  field("unit_copies", stack.unit_copies);
  field("unit_lists", stack.unit_lists);
  field("autocast", stack.autocast);
  field("keeps_block_inputs", stack.keeps_block_inputs);
  field("half_states", stack.half_states);
  field("steps_by_lists", stack.steps_by_lists);
  field("by_operator", stack.by_operator);
  field("rotary_bytes", stack.rotary_bytes, {0, 64});
  field("cached_logit_bytes", stack.cached_logit_bytes, {0, 64});
  field("allocator", stack.allocator);
  field("workspace_gib", stack.workspace_gib, kFactor);
  field("product_workspaces", stack.product_workspaces, {0, 64});
  field("expert_workspaces", stack.expert_workspaces, {0, 64});
  field("host_per_module", stack.host_per_module);
  field("host_per_cut_module", stack.host_per_cut_module);
  field("host_per_experts", stack.host_per_experts);
  field("host_per_tensor", stack.host_per_tensor);
  field("host_per_adapter", stack.host_per_adapter);
  field("host_per_unit", stack.host_per_unit);
  field("loss_by_operator", stack.loss_by_operator);
  field("loss_in_pieces", stack.loss_in_pieces);
  field("unfused_adapters", stack.unfused_adapters);
  field("unpacks_by_operator", stack.unpacks_by_operator);
  field("channels_first", stack.channels_first);
  field("unfused_expert_bias", stack.unfused_expert_bias);
  field("mixed_products", stack.mixed_products);
  field("newer_libraries", stack.newer_libraries);
  field("unfused_gate_limit", stack.unfused_gate_limit);
  field("unfused_rms_norm", stack.unfused_rms_norm);
  field("wide_softmax", stack.wide_softmax);
  field("transposed_rotary", stack.transposed_rotary);
  field("unfused_long_rotary", stack.unfused_long_rotary);
  field("host_per_tensor_rank", stack.host_per_tensor_rank);
  field("host_per_tensor_node", stack.host_per_tensor_node);
  field("overlaps_pieces", stack.overlaps_pieces);
  field("lightens_last_stage", stack.lightens_last_stage);
  field("pace", stack.pace, kGain);
  field("fitted_parts", stack.fitted_parts);
  field("learned_interval", stack.learned_interval, {0, 0.95});
  field("learned_forms", stack.learned_forms);
}

std::vector<LearnedRun> read_learned(const JsonReader& reader) {
  constexpr JsonReader::Range kLogarithm = {-100, 100};
  std::vector<LearnedRun> runs;
  if (!reader.has("learned_runs")) return runs;
  for (const JsonReader& one : reader.children("learned_runs")) {
    LearnedRun run{.like = {one.text("kind", ""), one.text("numbers", ""), {}}, .weight = one.number("weight", {}, kLogarithm)};
    for (const JsonReader& at : one.children("at")) {
      if (at.json().is_number())
        run.like.at.push_back(at.json().get<double>());
      else
        at.violate("", "is no number", "calibrate anew");
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

Json learned_json(const std::vector<LearnedRun>& runs) {
  Json list = Json::array();
  for (const LearnedRun& run : runs)
    list.push_back({{"kind", run.like.kind}, {"numbers", run.like.numbers}, {"at", run.like.at}, {"weight", run.weight}});
  return list;
}

template <class Stack, class Field>
void each_field(Stack& stack, const Field& field) {
  each_fusion(stack, field);
  each_communication(stack, field);
  each_constant(stack, field);
  each_memory(stack, field);
  field("balances_in_turn", stack.balances_in_turn);
  field("recomputes_parts", stack.recomputes_parts);
  field("launches_per_expert", stack.launches_per_expert, {0, 1000});
  field("images_per_worker", stack.images_per_worker, {0, 1e6});
}

}  // namespace

SoftwareStack software_stack_from_json(const Json& json, const std::string& file) {
  const JsonReader reader(json, file);
  SoftwareStack stack;
  const std::size_t format = reader.choice("format", kSoftwareFormats) + 1;
  stack.name = reader.text("name");
  stack.source = required_source(reader);
  for (const JsonReader& item : reader.children("frameworks"))
    if (item.json().is_string())
      stack.frameworks.push_back(item.json().get<std::string>());
    else
      item.violate("", "is no text", "put it in quotes");
  stack.from_year = reader.integer("from_year", 0);
  each_field(stack, FieldsIn(reader));
  each_habit(stack, FieldsIn(reader));
  for (const char* key : {"flash", "attention"}) reader.choice(key, kAttentionKernelNames, 0);
  reader.choice("allocator", kDeviceAllocatorNames, 0);
  reader.choice("unit_copies", kUnitCopyingNames, 0);
  stack.learned_runs = read_learned(reader);
  if (reader.has("fitted")) {
    const JsonReader fitted = reader.child("fitted");
    stack.source += "; " + required_source(fitted);
    each_constant(stack, FieldsIn(fitted));
    stack.fitted_parts = fitted.text("fitted_parts", stack.fitted_parts);
  }
  if (format >= kNewestProfileFormat) refuse_unread_software(reader);
  reader.refuse_unknown();
  reader.finish();
  return stack;
}

// Every number, read or not: the first format, which the hashes of plans are made of.
Json to_json(const SoftwareStack& stack) {
  Json json = {{"format", kSoftwareFormats[0]}, {"name", stack.name}, {"source", stack.source}};
  each_field(stack, FieldsOut(json));
  const SoftwareStack ordinary;
  Json habits, usual;
  each_habit(stack, FieldsOut(habits));
  each_habit(ordinary, FieldsOut(usual));
  for (const auto& [name, value] : habits.items())
    if (value != usual[name]) json[name] = value;
  if (!stack.learned_runs.empty()) json["learned_runs"] = learned_json(stack.learned_runs);
  return json;
}

SoftwareStack load_software(const std::string& path_or_name) {
  const std::string path = find_profile(path_or_name, {"software"});
  return software_stack_from_json(load_json_file(path), path);
}

SoftwareCatalog load_software_catalog() {
  const std::filesystem::path folder = std::filesystem::path(find_profile("plain", {"software"})).parent_path();
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<SoftwareStack> stacks;
  for (const std::string& file : files) stacks.push_back(load_software(file));
  return SoftwareCatalog(std::move(stacks));
}

}  // namespace sim
