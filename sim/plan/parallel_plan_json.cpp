#include <fmt/format.h>

#include "sim/plan/parallel_plan.h"
#include "sim/units/json_reader.h"
#include "sim/units/unit_text.h"

namespace sim {
namespace {

constexpr std::string_view kFormat = "meshwright.plan/1";

template <class Enum, std::size_t N>
std::string name_of(Enum value, const std::string_view (&names)[N]) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

Json workload_json(const Workload& work) {
  return {{"sequence", work.sequence},
          {"global_batch", work.global_batch},
          {"precision", name_of(work.precision, kPrecisionNames)},
          {"optimizer", name_of(work.optimizer, kOptimizerNames)}};
}

Json training_json(const TrainingSettings& t) {
  return {{"learning_rate", t.learning_rate},
          {"minimum_learning_rate", t.minimum_learning_rate},
          {"warmup_steps", t.warmup_steps},
          {"decay_steps", t.decay_steps},
          {"beta1", t.beta1},
          {"beta2", t.beta2},
          {"epsilon", t.epsilon},
          {"weight_decay", t.weight_decay},
          {"momentum", t.momentum},
          {"gradient_clip", t.gradient_clip},
          {"seed", t.seed},
          {"checkpoint_interval", t.checkpoint_interval},
          {"keep_last", t.keep_last},
          {"loss_scale_rule", name_of(t.loss_scale_rule, kLossScaleRuleNames)},
          {"initial_loss_scale", t.initial_loss_scale},
          {"loss_scale_window", t.loss_scale_window}};
}

Json cut_json(const StageCut& cut) {
  Json first = Json::array();
  for (const LayerIndex layer : cut.first) first.push_back(layer.value());
  return first;
}

// All that the predictions depend on.
Json priced_json(const ParallelPlan& plan) {
  Json json;
  json["format"] = kFormat;
  json["model"] = to_json(plan.model);
  json["cluster"] = to_json(plan.cluster);
  json["workload"] = workload_json(plan.workload);
  if (plan.workload.fp32_gradients) json["workload"]["fp32_gradients"] = true;
  json["mesh"] = {{"data", plan.mesh.data}, {"pipeline", plan.mesh.pipeline}, {"tensor", plan.mesh.tensor}};
  if (plan.mesh.replicas > 1) json["mesh"]["replicas"] = plan.mesh.replicas;
  if (plan.mesh.expert > 1) json["mesh"]["expert"] = plan.mesh.expert;
  if (plan.mesh.reshard > 1) json["mesh"]["reshard"] = plan.mesh.reshard;
  if (plan.mesh.context > 1) {
    json["mesh"]["context"] = plan.mesh.context;
    json["context_algorithm"] = name_of(plan.context_algorithm, kContextAlgorithmNames);
  }
  json["vocabulary_multiple"] = plan.vocabulary_multiple;
  json["schedule"] = plan.schedule;
  if (plan.written_order) json["order"] = order_rows(*plan.written_order);
  json["chunks"] = plan.chunks;
  json["cut"] = cut_json(plan.cut);
  json["microbatch_size"] = plan.microbatch_size;
  json["microbatches"] = plan.num_microbatches();
  json["zero_stage"] = plan.zero_stage;
  json["reshard_after_forward"] = plan.reshard_after_forward;
  json["prefetch"] = plan.prefetch;
  if (plan.layers_per_unit > 1) json["layers_per_unit"] = plan.layers_per_unit;
  json["bucket_size"] = to_exact_text(plan.bucket_size);
  json["accumulation"] = name_of(plan.accumulation, kAccumulationNames);
  json["sequence_parallel"] = plan.sequence_parallel;
  json["recompute"] = name_of(plan.recompute, kRecomputeNames);
  if (plan.offload_optimizer) json["offload_optimizer"] = true;
  if (plan.offload_activations) json["offload_activations"] = true;
  return json;
}

Workload workload_from(const JsonReader& json) {
  Workload work;
  work.sequence = json.integer("sequence", {}, {1, kMostTokens});
  work.global_batch = json.integer("global_batch", {}, {1, kMostSamples});
  work.precision = static_cast<Precision>(json.choice("precision", kPrecisionNames, 1));
  work.optimizer = static_cast<OptimizerKind>(json.choice("optimizer", kOptimizerNames, 0));
  work.fp32_gradients = json.boolean("fp32_gradients", false);
  return work;
}

TrainingSettings training_from(const JsonReader& json) {
  const TrainingSettings defaults;
  TrainingSettings t;
  const JsonReader::Range positive{0, 1e300}, share{0, 1};
  t.learning_rate = json.number("learning_rate", defaults.learning_rate, positive);
  t.minimum_learning_rate = json.number("minimum_learning_rate", defaults.minimum_learning_rate, positive);
  t.warmup_steps = json.integer("warmup_steps", defaults.warmup_steps);
  t.decay_steps = json.integer("decay_steps", defaults.decay_steps);
  t.beta1 = json.number("beta1", defaults.beta1, share);
  t.beta2 = json.number("beta2", defaults.beta2, share);
  t.epsilon = json.number("epsilon", defaults.epsilon, positive);
  t.weight_decay = json.number("weight_decay", defaults.weight_decay, positive);
  t.momentum = json.number("momentum", defaults.momentum, share);
  t.gradient_clip = json.number("gradient_clip", defaults.gradient_clip, positive);
  t.seed = static_cast<std::uint64_t>(json.integer("seed", 1, {0, kLargestSeed}));
  t.loss_scale_rule = static_cast<LossScaleRule>(json.choice("loss_scale_rule", kLossScaleRuleNames, 0));
  t.initial_loss_scale = json.number("initial_loss_scale", defaults.initial_loss_scale, {1, 1e300});
  t.loss_scale_window = json.integer("loss_scale_window", defaults.loss_scale_window, {1, 1e9});
  t.checkpoint_interval = json.integer("checkpoint_interval", defaults.checkpoint_interval, {0, kMostSteps});
  t.keep_last = json.integer("keep_last", defaults.keep_last, {1, 1e6});
  return t;
}

OrderTable written_order_from(const JsonReader& json) {
  std::vector<std::string> rows;
  for (const JsonReader& row : json.children("order"))
    if (row.json().is_string()) rows.push_back(row.json().get<std::string>());
  std::vector<Violation> found;
  OrderTable table = parse_order(rows, found);
  for (const Violation& violation : found) json.violate("order", located(violation), violation.remedy);
  return table;
}

void read_parallelism(const JsonReader& json, ParallelPlan& plan) {
  const JsonReader mesh = json.child("mesh");
  const JsonReader::Range degrees{1, 1e6};
  plan.mesh.data = static_cast<std::int32_t>(mesh.integer("data", 1, degrees));
  plan.mesh.pipeline = static_cast<std::int32_t>(mesh.integer("pipeline", 1, degrees));
  plan.mesh.tensor = static_cast<std::int32_t>(mesh.integer("tensor", 1, degrees));
  plan.mesh.replicas = static_cast<std::int32_t>(mesh.integer("replicas", 1, degrees));
  plan.mesh.context = static_cast<std::int32_t>(mesh.integer("context", 1, degrees));
  plan.mesh.expert = static_cast<std::int32_t>(mesh.integer("expert", 1, degrees));
  plan.mesh.reshard = static_cast<std::int32_t>(mesh.integer("reshard", 1, degrees));
  plan.context_algorithm = static_cast<ContextAlgorithm>(json.choice("context_algorithm", kContextAlgorithmNames, 0));
  plan.vocabulary_multiple = json.integer("vocabulary_multiple", 128, {1, kMostVocabularyMultiple});
  plan.schedule = json.text("schedule", "1f1b");
  if (plan.schedule == kOrderFromCsv) plan.written_order = written_order_from(json);
  plan.chunks = static_cast<std::int32_t>(json.integer("chunks", 1, degrees));
  for (const std::int64_t layer : json.integers("cut"))
    plan.cut.first.push_back(LayerIndex(static_cast<std::int32_t>(std::clamp<std::int64_t>(layer, -1, 1 << 30))));
  plan.microbatch_size = json.integer("microbatch_size", {}, {1, kMostSamples});
  plan.zero_stage = static_cast<std::int32_t>(json.integer("zero_stage", 0, {0, 3}));
  plan.reshard_after_forward = json.boolean("reshard_after_forward", true);
  plan.prefetch = json.boolean("prefetch", true);
  plan.layers_per_unit = static_cast<std::int32_t>(json.integer("layers_per_unit", 1, degrees));
  plan.bucket_size = json.bytes("bucket_size", plan.bucket_size);
  plan.accumulation = static_cast<Accumulation>(json.choice("accumulation", kAccumulationNames, 0));
  plan.sequence_parallel = json.boolean("sequence_parallel", false);
  plan.recompute = static_cast<Recompute>(json.choice("recompute", kRecomputeNames, 0));
  plan.offload_optimizer = json.boolean("offload_optimizer", false);
  plan.offload_activations = json.boolean("offload_activations", false);
}

}  // namespace

Json to_json(const ParallelPlan& plan) {
  Json json = priced_json(plan);
  json["training"] = training_json(plan.training);
  if (plan.predictions)
    json["predictions"] = {{"step_time", to_exact_text(plan.predictions->step_time)},
                           {"peak_memory", to_exact_text(plan.predictions->peak_memory)},
                           {"made_from", plan.predictions->hash}};
  return json;
}

ParallelPlan plan_from_json(const Json& document, const std::string& file) {
  const JsonReader json(document, file);
  if (json.text("format") != kFormat)
    json.violate("format", fmt::format("is not \"{}\"", kFormat), "give a plan file (meshwright plan -o plan.json)");
  json.finish();
  ParallelPlan plan;
  const JsonReader work = json.child("workload");
  plan.workload = workload_from(work);
  read_parallelism(json, plan);
  if (json.has("training")) plan.training = training_from(json.child("training"));
  if (json.has("predictions")) {
    const JsonReader made = json.child("predictions");
    plan.predictions = Predictions{made.seconds("step_time"), made.bytes("peak_memory"), made.text("made_from")};
  }
  json.child("model");
  json.child("cluster");
  json.finish();
  plan.model = model_config_from_json(document.at("model"), file);
  plan.cluster = cluster_from_json(document.at("cluster"), file);
  if (std::vector<Violation> found = violations(plan); !found.empty()) throw InputError(file, std::move(found));
  return plan;
}

std::string plan_hash(const ParallelPlan& plan) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits: an identity, not a protection
  for (const char c : priced_json(plan).dump()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

ParallelPlan load_plan(const std::string& path) { return plan_from_json(load_json_file(path), path); }
void save_plan(const ParallelPlan& plan, const std::string& path) { save_json_file(to_json(plan), path); }

}  // namespace sim
