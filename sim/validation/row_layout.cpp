#include "sim/validation/row_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/clock/kernel_setting.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::int64_t kMostLayers = 100'000;
constexpr double kMostPasses = 5e6;  // of microbatches through stages: what can be played in seconds

// Numbers that no machine has; what is played pass by pass would not end.
void find_excess(const RowLayout& layout, const ModelConfig& model, std::vector<Violation>& found) {
  if (model.layers > kMostLayers)
    found.push_back({"/workload/layers", fmt::format("is {}, more than {}", model.layers, kMostLayers), "correct it"});
  const double passes = real(layout.pipeline) * real(layout.chunks) * real(layout.microbatches);
  if (layout.pipeline > 1 && passes > kMostPasses)
    found.push_back({"/plan",
                     fmt::format("pp {} x vpp {} x num_microbatches {} is more than {:.0e} passes", layout.pipeline, layout.chunks,
                                 layout.microbatches, kMostPasses),
                     "correct them"});
}

void find_wrong_batches(const RowLayout& layout, std::vector<Violation>& found) {
  if (layout.schedule == "gpipe") return;
  if (layout.data * layout.micro_batch > layout.global_batch)
    found.push_back({"/plan/global_batch",
                     fmt::format("is {}, less than dp {} x micro_batch {}", layout.global_batch, layout.data, layout.micro_batch),
                     "correct one of them"});
  const std::int64_t samples = layout.data * layout.micro_batch * layout.microbatches;  // rounding of odd batches is no contradiction
  if (samples > 2 * layout.global_batch || 2 * samples < layout.global_batch)
    found.push_back({"/plan/num_microbatches",
                     fmt::format("dp {} x micro_batch {} x num_microbatches {} = {}, but global_batch is {}", layout.data,
                                 layout.micro_batch, layout.microbatches, samples, layout.global_batch),
                     "correct one of them"});
}

void find_wrong_parts(const RowLayout& layout, const ModelConfig& model, std::vector<Violation>& found) {
  const std::int64_t parts = layout.pipeline * layout.chunks, copies = layout.data * layout.context;
  if (parts > model.inner_layers() + 2)
    found.push_back({"/plan/pp", fmt::format("cuts {} layers into {} pieces", model.layers, parts), "use fewer"});
  if (!layout.balance.empty() && std::ssize(layout.balance) != parts)
    found.push_back(
        {"/plan/partition/balance", fmt::format("has {} entries for {} pieces", layout.balance.size(), parts), "give one each"});
  const std::int64_t whole = std::accumulate(layout.balance.begin(), layout.balance.end(), std::int64_t{0}),
                     layers = model.layers + (model.convolution ? 2 : 0);
  if (!layout.balance.empty() && whole != layers)
    found.push_back({"/plan/partition/balance", fmt::format("deals out {} of {} layers", whole, layers), "correct it"});
  if (layout.zero_stage > 0 && copies % layout.zero_group != 0)
    found.push_back({"/plan/zero_group",
                     fmt::format("is {}, which does not divide dp {} x cp {}", layout.zero_group, layout.data, layout.context),
                     "use a divisor"});
}

}  // namespace

std::int64_t usual_micro_batch(const RowLayout& layout, const ModelConfig& model, double sequence) {
  const std::int64_t per_rank = std::max<std::int64_t>(1, layout.global_batch / layout.data);
  const double tokens_wanted = layout.pipeline > 1 ? 2048 : 16384;  // a pipeline wants many small ones
  const double width = real(model.hidden) / real(layout.tensor);
  std::int64_t micro = 1;
  while (per_rank % (2 * micro) == 0 && real(2 * micro) * sequence <= tokens_wanted && real(2 * micro) * sequence * width <= 6e7)
    micro *= 2;
  return micro;
}

std::int64_t usual_chunks(const RowLayout& layout, const ModelConfig& model) {
  const std::int64_t per_stage = model.layers / layout.pipeline;
  for (std::int64_t chunks = std::min<std::int64_t>(per_stage / 2, 8); chunks > 1; --chunks)
    if (per_stage % chunks == 0) return chunks;
  return per_stage > 1 ? per_stage : 1;
}

std::int64_t chunks_of(const RowLayout& layout, const ModelConfig& model) {
  if (!layout.balance.empty() && std::ssize(layout.balance) % layout.pipeline == 0) return std::ssize(layout.balance) / layout.pipeline;
  return layout.schedule == "interleaved" ? usual_chunks(layout, model) : 1;
}

std::vector<std::int64_t> counts_with_ends(const RowLayout& layout, const ModelConfig& model) {
  const std::int64_t parts = layout.pipeline * layout.chunks, total = model.layers + (parts > 1 ? 2 : 0), left = total % parts,
                     begin = (parts - left) / 2;
  std::vector<std::int64_t> counts(count_of(parts), total / parts);
  for (std::int64_t at = begin; at < begin + left; ++at) ++sim::at(counts, at);
  if (parts > 1)
    for (std::int64_t* count : {&counts.front(), &counts.back()}) *count = std::max<std::int64_t>(0, *count - 1);
  return counts;
}

std::vector<std::int64_t> counts_with_a_light_end(const RowLayout& layout, const ModelConfig& model) {
  const std::int64_t stages = layout.pipeline, each = model.layers / stages;
  const bool lightens = stages >= 4 && each >= 2 && model.layers % stages == 0;
  const std::int64_t later = lightens ? std::min(stages - 1, each) : model.layers % stages;
  std::vector<std::int64_t> counts(count_of(stages), each);
  for (std::int64_t at = stages - later; at < stages; ++at) ++sim::at(counts, at);
  if (lightens) counts.back() -= later;
  return counts;
}

StageCut cut_after(const std::vector<std::int64_t>& layers) {
  StageCut cut;
  std::int64_t first = 0;
  for (const std::int64_t count : layers) {
    cut.first.push_back(LayerIndex(static_cast<std::int32_t>(first)));
    first += count;
  }
  return cut;
}

std::vector<Violation> contradictions(const RowLayout& layout, const ModelConfig& model) {
  std::vector<Violation> found;
  find_excess(layout, model, found);
  const std::int64_t degrees = layout.data * layout.tensor * layout.pipeline * layout.context;
  if (degrees != layout.gpus)
    found.push_back({"/plan",
                     fmt::format("dp {} x tp {} x pp {} x cp {} = {}, but total_gpus is {}", layout.data, layout.tensor, layout.pipeline,
                                 layout.context, degrees, layout.gpus),
                     "correct the degrees or total_gpus"});
  find_wrong_batches(layout, found);
  find_wrong_parts(layout, model, found);
  if (model.experts && model.experts->experts % layout.expert != 0)
    found.push_back(
        {"/plan/ep", fmt::format("is {}, which does not divide {} experts", layout.expert, model.experts->experts), "use a divisor"});
  return found;
}

}  // namespace sim
