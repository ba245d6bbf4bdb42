#include "sim/validation/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/estimate/memory_estimate.h"

namespace sim {
namespace {

constexpr std::int64_t kMostLayers = 100'000;
constexpr double kMostPasses = 5e6;   // of microbatches through stages: what can be played in seconds
constexpr double kMemoryDoubt = 1.2;  // of the estimate: a run that was made did fit

}  // namespace

std::int64_t resolve_micro_batch(const RunDescription& run) {
  const Layout& layout = run.layout;
  const std::int64_t per_rank = std::max<std::int64_t>(1, layout.global_batch / layout.data);
  const double tokens_wanted = layout.pipeline > 1 ? 2048 : 16384;  // a pipeline wants many small ones
  const double width = real(run.network.hidden) / real(layout.tensor);
  std::int64_t micro = 1;
  while (per_rank % (2 * micro) == 0 && real(2 * micro) * run.network.effective_sequence <= tokens_wanted &&
         real(2 * micro) * run.network.effective_sequence * width <= 6e7)
    micro *= 2;
  return micro;
}

std::int64_t resolve_chunks(const RunDescription& run) {
  const std::int64_t per_stage = run.network.layers / run.layout.pipeline;
  for (std::int64_t chunks = std::min<std::int64_t>(per_stage / 2, 8); chunks > 1; --chunks)
    if (per_stage % chunks == 0) return chunks;
  return per_stage > 1 ? per_stage : 1;
}

RecomputeKind least_recompute(RunDescription run, const Setting& setting) {
  using enum RecomputeKind;
  run.execution.recompute = None;
  if (run.network.kind == NetworkKind::Convolutional || run.network.kind == NetworkKind::DecoderLayer) return None;
  for (const RecomputeKind kind : {None, AttentionCore, SaveProjections, CheapOperators}) {
    if (kind != None && !setting.stack.recomputes_parts) break;
    run.execution.recompute = kind;
    const MemoryEstimate memory = estimate_memory(run, setting);
    if (memory.needed_gib <= kMemoryDoubt * memory.available_gib) return kind;
  }
  return Full;
}

void settle_recompute(DescribedRow& described, const Setting& setting) {
  if (!described.recompute_open) return;
  const RecomputeKind least = described.run.execution.recompute = least_recompute(described.run, setting);
  described.assumed.push_back({"plan.recompute", std::string(kRecomputeKindNames[static_cast<std::size_t>(least)])});
}

void settle_memory(const DescribedRow& described, const Setting& setting, StepEstimate& estimate) {
  const bool is_open = described.recompute_open || described.recompute_parts_open;
  if (!is_open || !estimate.out_of_memory) return;
  RunDescription least = described.run;
  least.execution.recompute = RecomputeKind::Full;
  MemoryEstimate memory = estimate_memory(least, setting);
  memory.total_gib = std::max(memory.total_gib, std::min(estimate.memory_gib, memory.available_gib));
  take_memory(memory, setting.device.behavior, estimate);
}

namespace {

// Numbers that no machine has; what is played pass by pass would not end.
void find_excess(const RunDescription& run, std::vector<Violation>& found) {
  const Layout& layout = run.layout;
  if (run.network.layers > kMostLayers)
    found.push_back({"/workload/layers", fmt::format("is {}, more than {}", run.network.layers, kMostLayers), "correct it"});
  const double passes = real(layout.pipeline) * real(layout.chunks) * real(layout.microbatches);
  if (layout.pipeline > 1 && passes > kMostPasses)
    found.push_back({"/plan",
                     fmt::format("pp {} x vpp {} x num_microbatches {} is more than {:.0e} passes", layout.pipeline, layout.chunks,
                                 layout.microbatches, kMostPasses),
                     "correct them"});
}

}  // namespace

std::vector<Violation> contradictions(const RunDescription& run) {
  std::vector<Violation> found;
  find_excess(run, found);
  const Layout& layout = run.layout;
  const std::int64_t degrees = layout.data * layout.tensor * layout.pipeline * layout.context;
  if (degrees != run.machine.gpus)
    found.push_back({"/plan",
                     fmt::format("dp {} x tp {} x pp {} x cp {} = {}, but total_gpus is {}", layout.data, layout.tensor, layout.pipeline,
                                 layout.context, degrees, run.machine.gpus),
                     "correct the degrees or total_gpus"});
  if (layout.data * layout.micro_batch > layout.global_batch && layout.schedule != "gpipe")
    found.push_back({"/plan/global_batch",
                     fmt::format("is {}, less than dp {} x micro_batch {}", layout.global_batch, layout.data, layout.micro_batch),
                     "correct one of them"});
  const std::int64_t samples = layout.data * layout.micro_batch * layout.microbatches;  // rounding of odd batches is no contradiction
  if (layout.schedule != "gpipe" && (samples > 2 * layout.global_batch || 2 * samples < layout.global_batch))
    found.push_back({"/plan/num_microbatches",
                     fmt::format("dp {} x micro_batch {} x num_microbatches {} = {}, but global_batch is {}", layout.data,
                                 layout.micro_batch, layout.microbatches, samples, layout.global_batch),
                     "correct one of them"});
  if (run.network.kind != NetworkKind::Convolutional && layout.pipeline * layout.chunks > run.network.layers + 2)
    found.push_back(
        {"/plan/pp", fmt::format("cuts {} layers into {} pieces", run.network.layers, layout.pipeline * layout.chunks), "use fewer"});
  if (run.network.experts && run.network.experts->experts % layout.expert != 0)
    found.push_back(
        {"/plan/ep", fmt::format("is {}, which does not divide {} experts", layout.expert, run.network.experts->experts), "use a divisor"});
  return found;
}

}  // namespace sim
