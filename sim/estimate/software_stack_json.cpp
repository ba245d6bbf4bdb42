// Software profiles <-> JSON ("format": "meshwright.software/1").
#include <algorithm>
#include <filesystem>

#include "sim/cluster/profile_search.h"
#include "sim/estimate/software_stack.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr std::string_view kSoftwareFormat = "meshwright.software/1";
constexpr JsonReader::Range kFactor = {0, 100};

void read_fusion(const JsonReader& reader, SoftwareStack& stack) {
  stack.fused_norm = reader.boolean("fused_norm", stack.fused_norm);
  stack.fused_activation = reader.boolean("fused_activation", stack.fused_activation);
  stack.fused_residual = reader.boolean("fused_residual", stack.fused_residual);
  stack.fused_rotary = reader.boolean("fused_rotary", stack.fused_rotary);
  stack.fused_loss = reader.boolean("fused_loss", stack.fused_loss);
  stack.fused_optimizer = reader.boolean("fused_optimizer", stack.fused_optimizer);
  stack.scales_when_used = reader.boolean("scales_when_used", stack.scales_when_used);
  stack.cached_fp8_weights = reader.boolean("cached_fp8_weights", stack.cached_fp8_weights);
  stack.masked_loss = reader.boolean("masked_loss", stack.masked_loss);
  stack.ring_overhead = reader.number("ring_overhead", stack.ring_overhead, kFactor);
  stack.fused_softmax = reader.boolean("fused_softmax", stack.fused_softmax);
  stack.fused_accumulation = reader.boolean("fused_accumulation", stack.fused_accumulation);
  stack.vocabulary_parallel = reader.boolean("vocabulary_parallel", stack.vocabulary_parallel);
  stack.dropout = reader.boolean("dropout", stack.dropout);
  stack.compiled = reader.boolean("compiled", stack.compiled);
  stack.flash = reader.text("flash", stack.flash);
  stack.attention = reader.text("attention", stack.attention);
}

void read_communication(const JsonReader& reader, SoftwareStack& stack) {
  stack.overlap_reduce = reader.boolean("overlap_reduce", stack.overlap_reduce);
  stack.overlap_gather = reader.boolean("overlap_gather", stack.overlap_gather);
  stack.overlap_tensor = reader.boolean("overlap_tensor", stack.overlap_tensor);
  stack.overlap_pipeline = reader.boolean("overlap_pipeline", stack.overlap_pipeline);
  stack.expert_tensor = reader.boolean("expert_tensor", stack.expert_tensor);
  stack.dispatch_share = reader.number("dispatch_share", stack.dispatch_share, {0, 1});
  stack.scatter_gather = reader.boolean("scatter_gather", stack.scatter_gather);
  stack.broadcast_start = reader.seconds("broadcast_start", stack.broadcast_start);
  stack.zero1_all_reduce = reader.boolean("zero1_all_reduce", stack.zero1_all_reduce);
  stack.reduce_bytes = reader.number("reduce_bytes", stack.reduce_bytes, {1, 8});
  stack.accumulate_bytes = reader.number("accumulate_bytes", stack.accumulate_bytes, {1, 8});
}

// Those that block "fitted" may state again: see sim/validation/fit.h.
void read_constants(const JsonReader& reader, SoftwareStack& stack) {
  stack.matrix_share = reader.number("matrix_share", stack.matrix_share, kFactor);
  stack.network_share = reader.number("network_share", stack.network_share, kFactor);
  stack.overlap_slowdown = reader.number("overlap_slowdown", stack.overlap_slowdown, kFactor);
  stack.host_per_kernel = reader.seconds("host_per_kernel", stack.host_per_kernel);
  stack.pipeline_sync = reader.seconds("pipeline_sync", stack.pipeline_sync);
  stack.step_overhead = reader.seconds("step_overhead", stack.step_overhead);
  stack.interval = reader.number("interval", stack.interval, {0, 0.95});
}

void require_source(const JsonReader& reader) {
  if (reader.text("source").empty()) reader.violate("source", "is empty", "say where the facts come from");
}

}  // namespace

SoftwareStack software_stack_from_json(const Json& json, const std::string& file) {
  const JsonReader reader(json, file);
  SoftwareStack stack;
  reader.choice("format", std::span(&kSoftwareFormat, 1));
  stack.name = reader.text("name");
  stack.source = reader.text("source");
  require_source(reader);
  if (reader.has("frameworks"))
    for (const JsonReader& item : reader.children("frameworks"))
      if (item.json().is_string()) stack.frameworks.push_back(item.json().get<std::string>());
  stack.from_year = reader.integer("from_year", 0);
  read_fusion(reader, stack);
  read_communication(reader, stack);
  read_constants(reader, stack);
  if (reader.has("fitted")) {
    require_source(reader.child("fitted"));
    read_constants(reader.child("fitted"), stack);
  }
  stack.launches_per_expert = reader.number("launches_per_expert", stack.launches_per_expert, {0, 1000});
  stack.images_per_worker = reader.number("images_per_worker", 0.0, {0, 1e6});
  stack.owner_gradient_bytes = reader.number("owner_gradient_bytes", stack.owner_gradient_bytes, {0, 64});
  stack.context_gib = reader.number("context_gib", stack.context_gib, kFactor);
  stack.fragmentation = reader.number("fragmentation", stack.fragmentation, kFactor);
  reader.finish();
  return stack;
}

SoftwareCatalog load_software_catalog() {
  const std::filesystem::path folder = std::filesystem::path(find_profile("plain", {"software"})).parent_path();
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<SoftwareStack> stacks;
  for (const std::string& file : files) stacks.push_back(software_stack_from_json(load_json_file(file), file));
  return SoftwareCatalog(std::move(stacks));
}

}  // namespace sim
