#include "gui/core/answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "gui/core/alive.h"
#include "gui/core/knobs.h"
#include "gui/core/planner_answers.h"
#include "sim/units/counted.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

void simulateVariant(const SimulatedPlan& now, Variant& variant) {
  if (const std::vector<sim::Violation> broken = sim::violations(variant.plan); !broken.empty())
    variant.why_not = broken.front().problem;
  else
    takeResult(variant, sim::simulate(sim::make_model_graph(variant.plan), variant.plan), now);
}

std::string timeText(sim::SimTime time) { return sim::to_text(sim::to_seconds(time)); }
std::string limitOf(const SimulatedPlan& now) { return sim::to_text(sim::usable_memory(now.plan.cluster)); }

// Simulates them; the sentence names the one with the most tokens a second that fits.
Answer bestOf(const SimulatedPlan& now, std::vector<Variant> variants, const Asking& asking) {
  Answer answer;
  const std::string same = sim::plan_hash(now.plan);
  for (std::size_t at = 0; at < variants.size(); ++at) {
    Variant& variant = variants[at];
    asking.share = static_cast<double>(at) / static_cast<double>(variants.size());
    if (asking.isGivenUp()) break;
    simulateVariant(now, variant);
    variant.is_now = sim::plan_hash(variant.plan) == same;
  }
  const Variant* best = nullptr;
  for (const Variant& variant : variants)
    if (variant.fits && (best == nullptr || variant.tokens_per_second > best->tokens_per_second)) best = &variant;
  if (best == nullptr) {
    answer.sentence = "None of these fits into %1.";
    answer.arguments = {limitOf(now)};
  } else if (best->is_now) {
    answer.sentence = "The plan as it is is the fastest of these that fits: %1 a step, peak %2 of %3.";
    answer.arguments = {timeText(best->step_time), sim::to_text(best->peak_memory), limitOf(now)};
  } else {
    answer.sentence = "Fastest that fits: %1, with %2 tokens/s (now %3) and a peak of %4 (now %5).";
    answer.arguments = {best->name, fmt::format("{:.0f}", best->tokens_per_second), fmt::format("{:.0f}", now.result.tokens_per_second),
                        sim::to_text(best->peak_memory), sim::to_text(now.result.peak_memory)};
  }
  answer.variants = std::move(variants);
  return answer;
}

// Modules are a word of "selective", blocks one of "full": another policy is said anew.
void recomputed(sim::ParallelPlan& plan, sim::Recompute policy) {
  if (plan.recompute != policy) plan.recompute_scope = {};
  plan.recompute = policy;
}

template <class Change>
void addVariant(std::vector<Variant>& variants, const SimulatedPlan& now, std::string name, Change change) {
  Variant variant{.name = std::move(name), .plan = now.plan};
  change(variant.plan);
  variants.push_back(std::move(variant));
}

Answer peak(const SimulatedPlan& now, const Asking&) {
  const sim::DeviceResult* const fullest = sim::fullest_device(now.result);
  Answer answer{.sentence = "The peak is %1 of %2, on stage %3.",
                .arguments = {sim::to_text(fullest->peak_memory), limitOf(now), std::to_string(fullest->stage.value())},
                .variants = {},
                .parts = {}};
  for (std::size_t category = 0; category < sim::kNumMemoryCategories; ++category)
    if (fullest->at_peak[category] > sim::Bytes(0))
      answer.parts.push_back({std::string(sim::kMemoryCategoryNames[category]), fullest->at_peak[category]});
  std::stable_sort(answer.parts.begin(), answer.parts.end(), [](const Part& a, const Part& b) { return a.size > b.size; });
  return answer;
}

Answer microbatch(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  for (std::int64_t size = 1; size * now.plan.mesh.data <= now.plan.workload.global_batch && size <= 64; size *= 2)
    addVariant(variants, now, fmt::format("microbatch={}", size), [&](sim::ParallelPlan& plan) { plan.microbatch_size = size; });
  return bestOf(now, std::move(variants), asking);
}

Answer globalBatch(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  for (const std::int64_t times : {1, 2, 4, 8})
    addVariant(variants, now, fmt::format("global_batch={}", now.plan.workload.global_batch * times),
               [&](sim::ParallelPlan& plan) { plan.workload.global_batch *= times; });
  return bestOf(now, std::move(variants), asking);
}

bool fitsWith(const SimulatedPlan& now, Variant& variant, std::int64_t sequence) {
  variant = {.name = fmt::format("sequence={}", sequence), .plan = now.plan};
  variant.plan.workload.sequence = sequence;
  simulateVariant(now, variant);
  variant.is_now = sequence == now.plan.workload.sequence;
  return variant.fits;
}

// Doubled until it no longer fits, then halved in between, to a 64th of what fits.
Answer longestSequence(const SimulatedPlan& now, const Asking& asking) {
  Answer answer;
  std::int64_t fits = 0, too_long = 0;
  const auto try_one = [&](std::int64_t sequence) {
    Variant variant;
    (fitsWith(now, variant, sequence) ? fits : too_long) = sequence;
    answer.variants.push_back(std::move(variant));
  };
  try_one(now.plan.workload.sequence);
  while (too_long == 0 && fits < (std::int64_t{1} << 24) && !asking.isGivenUp()) try_one(fits * 2);
  while (fits == 0 && too_long > 1 && !asking.isGivenUp()) try_one(too_long / 2);
  while (too_long - fits > std::max<std::int64_t>(1, fits / 64) && fits > 0 && too_long > 0 && !asking.isGivenUp())
    try_one((fits + too_long) / 2);
  std::stable_sort(answer.variants.begin(), answer.variants.end(),
                   [](const Variant& a, const Variant& b) { return a.plan.workload.sequence < b.plan.workload.sequence; });
  const auto first_out = std::find_if(answer.variants.begin(), answer.variants.end(), [](const Variant& variant) { return !variant.fits; });
  const bool by_rule = first_out != answer.variants.end() && !first_out->why_not.empty();
  answer.sentence = fits == 0 ? "Not even one token a sample fits into %2."
                    : by_rule ? "Up to about %1 tokens a sample: beyond, %3."
                              : "Up to about %1 tokens a sample fit into %2.";
  answer.arguments = {std::to_string(fits), limitOf(now), by_rule ? first_out->why_not : std::string()};
  return answer;
}

Answer dataDegree(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  const sim::DeviceMesh mesh = now.plan.mesh;
  for (std::int32_t data = std::max(1, mesh.data / 4); data <= mesh.data * 8; data *= 2)
    addVariant(variants, now, fmt::format("data={} ({})", data, sim::counted(data * mesh.context * mesh.tensor * mesh.pipeline, "device")),
               [&](sim::ParallelPlan& plan) {
                 plan.mesh.data = data;
                 plan.cluster.devices = plan.mesh.ranks();
               });
  return bestOf(now, std::move(variants), asking);
}

// ZeRO-Offload: gradients go down, the host steps, new weights come up.
Answer offload(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  addVariant(variants, now, "offload_optimizer=false",
             [](sim::ParallelPlan& plan) { plan.offload_optimizer = plan.offload_activations = false; });
  addVariant(variants, now, "offload_optimizer=true",
             [](sim::ParallelPlan& plan) { plan.offload_optimizer = true, plan.offload_activations = false; });
  addVariant(variants, now, "offload_optimizer=true, offload_activations=true, recompute=full", [](sim::ParallelPlan& plan) {
    plan.offload_optimizer = plan.offload_activations = true;
    recomputed(plan, sim::Recompute::Full);
  });
  for (Variant& variant : variants) {
    if (!asking.isGivenUp()) simulateVariant(now, variant);
    variant.is_now = sim::plan_hash(variant.plan) == sim::plan_hash(now.plan);
  }
  const Variant &here = variants[0], &there = variants[1];
  return {.sentence =
              there.fits
                  ? "On the host: %1 a step (on the device %2), a peak of %3 (%4), and %5 of each node's memory."
                  : "On the host it would not fit either: %1 a step (on the device %2), a peak of %3 (%4), and %5 of each node's memory.",
          .arguments = {timeText(there.step_time), timeText(here.step_time), sim::to_text(there.peak_memory),
                        sim::to_text(here.peak_memory), sim::to_text(there.host_memory)},
          .variants = variants,
          .parts = {}};
}

Answer recompute(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  for (std::size_t at = 0; at < std::size(sim::kRecomputeNames); ++at)
    addVariant(variants, now, fmt::format("recompute={}", sim::kRecomputeNames[at]),
               [&](sim::ParallelPlan& plan) { recomputed(plan, static_cast<sim::Recompute>(at)); });
  return bestOf(now, std::move(variants), asking);
}

Answer zeroStage(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  for (std::int32_t stage = 0; stage <= 3; ++stage)
    addVariant(variants, now, fmt::format("zero={}", stage), [&](sim::ParallelPlan& plan) { plan.zero_stage = stage; });
  return bestOf(now, std::move(variants), asking);
}

Answer reshard(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  for (const bool after : {true, false})
    for (std::int32_t prefetch = 0; prefetch <= sim::kMostPrefetched; ++prefetch)
      addVariant(variants, now, fmt::format("zero=3, reshard={}, prefetch={}", after, prefetch), [&](sim::ParallelPlan& plan) {
        plan.zero_stage = 3;
        plan.reshard_after_forward = after;
        plan.mesh.reshard = 1;
        plan.prefetch = prefetch;
      });
  for (std::int32_t ranks = 2; ranks < now.plan.mesh.shards(); ranks *= 2)  // FSDP2's integer: a node, mostly
    if (now.plan.mesh.shards() % ranks == 0)
      addVariant(variants, now, fmt::format("zero=3, reshard_ranks={}", ranks), [&](sim::ParallelPlan& plan) {
        plan.zero_stage = 3;
        plan.reshard_after_forward = true;
        plan.mesh.reshard = ranks;
      });
  return bestOf(now, std::move(variants), asking);
}

// HSDP: parameters and states are sharded over a part of the data ranks, and summed over the replicas of that part.
Answer hybridSharding(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  for (std::int32_t replicas = 1; replicas <= now.plan.mesh.copies(); replicas *= 2)
    if (now.plan.mesh.copies() % replicas == 0 && (replicas == 1 || replicas < now.plan.mesh.copies()))
      addVariant(variants, now, fmt::format("replicas={}", replicas), [&](sim::ParallelPlan& plan) { plan.mesh.replicas = replicas; });
  return bestOf(now, std::move(variants), asking);
}

Answer reduction(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  const sim::PrecisionPolicy policy = now.plan.workload.precision;
  for (const sim::Precision kept : {policy.of(sim::Numbers::Weights), sim::Precision::Fp32})
    addVariant(variants, now, "", [&](sim::ParallelPlan& plan) { plan.workload.precision = policy.with(sim::Numbers::Gradients, kept); });
  for (Variant& variant : variants) variant.name = "precision=" + sim::to_text(variant.plan.workload.precision);
  return bestOf(now, std::move(variants), asking);
}

// What is gathered, freed and reduced in one go: under ZeRO 3, to which FSDP's wrapping belongs, so many blocks.
Answer wrapping(const SimulatedPlan& now, const Asking& asking) {
  const std::int64_t parts = now.plan.num_virtual_stages(), most = (now.plan.model.layers + parts - 1) / parts;
  std::vector<Variant> variants;
  for (std::int32_t layers = 1; layers == 1 || layers < 2 * most; layers *= 2)
    for (const std::int32_t prefetch : {1, 0})
      addVariant(variants, now, fmt::format("zero=3, layers_per_unit={}, prefetch={}", layers, prefetch), [&](sim::ParallelPlan& plan) {
        plan.zero_stage = 3;
        plan.layers_per_unit = layers;
        plan.prefetch = prefetch;
      });
  return bestOf(now, std::move(variants), asking);
}

// Of gradients, below ZeRO 3.
Answer buckets(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  for (const std::int64_t mebibytes : {5, 25, 100, 400})
    addVariant(variants, now, fmt::format("bucket_size={} MiB", mebibytes),
               [&](sim::ParallelPlan& plan) { plan.bucket_size = sim::Bytes(mebibytes << 20); });
  return bestOf(now, std::move(variants), asking);
}

Answer precision(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  for (std::size_t at = 0; at < sim::kNumPrecisions; ++at)
    if (now.plan.cluster.hardware.peak[at].value() > 0)
      addVariant(variants, now, fmt::format("precision={}", sim::kPrecisionNames[at]),
                 [&](sim::ParallelPlan& plan) { plan.workload.precision = static_cast<sim::Precision>(at); });
  return bestOf(now, std::move(variants), asking);
}

Answer schedule(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants;
  for (const sim::Schedule& known : sim::all_schedules())
    for (const std::int32_t chunks : {1, 2, 4}) {
      if (!canHave(known, now.plan, chunks)) continue;
      sim::ParallelPlan plan = turned(now.plan, {"schedule", std::string(known.name)});
      if (plan.chunks != chunks) plan = turned(std::move(plan), {"chunks", std::int64_t{chunks}});
      variants.push_back({.name = fmt::format("schedule={}, chunks={}", known.name, chunks), .plan = std::move(plan)});
    }
  return bestOf(now, std::move(variants), asking);
}

std::string layerName(const SimulatedPlan& now, sim::LayerIndex layer) {
  if (!layer.exists()) return "no layer";
  if (layer == sim::LayerIndex(0)) return "embedding";
  return layer == now.model.head() ? "head" : fmt::format("layer {}", layer.value());
}

Answer ofOwners(const SimulatedPlan& now, sim::MemoryCategory category, std::string_view sentence, std::string_view none) {
  Answer answer{.sentence = sentence, .arguments = {}, .variants = {}, .parts = {}};
  for (const LayerMemory& layer : aliveByLayer(now, peakOf(now), category))
    answer.parts.push_back({layerName(now, layer.layer), layer.amount});
  if (answer.parts.empty()) return {.sentence = none, .arguments = {}, .variants = {}, .parts = {}};
  sim::Bytes all{};
  for (const Part& part : answer.parts) all += part.size;
  answer.arguments = {answer.parts.front().name, sim::to_text(answer.parts.front().size), sim::to_text(all)};
  return answer;
}

Answer activationsByLayer(const SimulatedPlan& now, const Asking&) {
  return ofOwners(now, sim::MemoryCategory::Activations, "At the peak %1 holds the most activations: %2 of %3.",
                  "At the peak no activations are alive.");
}

Answer gatheredByLayer(const SimulatedPlan& now, const Asking&) {
  return ofOwners(now, sim::MemoryCategory::GatheredUnits, "At the peak %1 holds the most unsharded memory: %2 of %3.",
                  "At the peak no unit is unsharded: parameters are not sharded (ZeRO 3), or all are let go.");
}

constexpr Question kQuestions[] = {
    {"Which change of one or two settings is worth most?", bestChanges},
    {"Is there a better plan?", bestPlans},
    {"What would more memory, network, devices or batch give?", worthOfMore},
    {"What is the peak memory, and what is it made of?", peak},
    {"What if the microbatch were another?", microbatch},
    {"What if the global batch were larger?", globalBatch},
    {"How long may a sequence be?", longestSequence},
    {"What if there were more or fewer data ranks?", dataDegree},
    {"What if the optimizer lay on the host?", offload},
    {"What do the recomputation policies cost and save?", recompute},
    {"What does each ZeRO stage cost and save?", zeroStage},
    {"What if parameters stayed gathered after forward?", reshard},
    {"What does another wrapping cost and save?", wrapping},
    {"What if gradients were reduced in other buckets?", buckets},
    {"When does hybrid sharding (HSDP) pay?", hybridSharding},
    {"What if gradients were reduced in fp32?", reduction},
    {"What if the precision were another?", precision},
    {"Which pipeline schedule is the best?", schedule},
    {"Which layer dominates the activations?", activationsByLayer},
    {"Which unit holds unsharded memory?", gatheredByLayer},
};

}  // namespace

std::span<const Question> allQuestions() { return kQuestions; }

}  // namespace gui
