#include "sim/schedule/zero_bubble.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/schedule/shape_rules.h"
#include "sim/units/at.h"

namespace sim {
namespace {

struct Start {
  std::int32_t time = 0;
  StageAction action;  // of microbatch 0
};
using Block = std::vector<Start>;

// The first start from `earliest` on that meets no other pass, where the block repeats every `length`.
std::int32_t first_free(const Block& block, std::int32_t length, std::int32_t earliest) {
  const auto taken = [&](std::int32_t time) {
    return std::any_of(block.begin(), block.end(), [&](const Start& start) { return (start.time - time) % length == 0; });
  };
  while (taken(earliest)) ++earliest;
  return earliest;
}

Start start(std::int32_t time, ActionKind kind, std::int32_t chunk) { return {time, {kind, MicrobatchIndex(0), ChunkIndex(chunk)}}; }

// One chunk: forwards go down a stage every `down`, input gradients come up one every `up`; down + up is 3 for each microbatch kept. Stage s keeps
// (up / 2) s + spare fewer than the limit, p or 2 p, from forward to backward: as much may wait for its weights' gradients. Where such a microbatch
// holds half of what it held (the 32 h of 34 h + 5 a s, with long kept scores), twice as many do, as the search of Qi et al. has it.
struct Slopes {
  std::int32_t down, up, spare;
  std::int32_t lag(PipelineShape shape, std::int32_t stage) const { return (up / 2 * stage + spare) * 100 / shape.waiting; }
};

Block one_chunk_block(PipelineShape shape, StageIndex stage, Slopes slopes) {
  const std::int32_t s = stage.value(), last = shape.stages - 1;
  const std::int32_t backward = slopes.down * last + 1 + slopes.up * (last - s);
  Block block{start(slopes.down * s, ActionKind::Forward, 0), start(backward, ActionKind::Backward, 0)};
  block.push_back(start(first_free(block, 3, backward + 1) + 3 * slopes.lag(shape, s), ActionKind::Weight, 0));
  return block;
}

// Two chunks: forwards go down the V and up again, then input gradients do; passes a stage on each leg, and between legs at both ends.
struct VSlopes {
  std::int32_t forward_down, forward_up, backward_down, backward_up;
};
struct Turns {
  std::int32_t last = 1, first = 1;
};

Block v_passes(PipelineShape shape, StageIndex stage, const VSlopes& slopes, Turns turns) {
  const std::int32_t s = stage.value(), last = shape.stages - 1;
  const std::int32_t bottom = slopes.forward_down * last + turns.last, top = bottom + slopes.forward_up * last + turns.first;
  return {start(slopes.forward_down * s, ActionKind::Forward, 0), start(bottom + slopes.forward_up * (last - s), ActionKind::Forward, 1),
          start(top + slopes.backward_down * s, ActionKind::Backward, 1),
          start(top + slopes.backward_down * last + turns.last + slopes.backward_up * (last - s), ActionKind::Backward, 0)};
}

bool meets_itself(const Block& block) {
  std::array<int, 6> passes{};
  for (const Start& one : block) ++sim::at(passes, one.time % 6);
  return std::any_of(passes.begin(), passes.end(), [](int count) { return count > 1; });
}

// The shortest turns with which no two passes meet on any stage: there are some for every number of stages.
Turns turns_of(PipelineShape shape, const VSlopes& slopes) {
  constexpr std::int32_t kLongest = 5;
  for (std::int32_t sum = 2; sum <= 2 * kLongest; ++sum)
    for (Turns turns{.last = std::max(1, sum - kLongest)}; turns.last < sum && turns.last <= kLongest; ++turns.last) {
      turns.first = sum - turns.last;
      bool meets = false;
      for (StageIndex stage(0); stage.value() < shape.stages; ++stage) meets = meets || meets_itself(v_passes(shape, stage, slopes, turns));
      if (!meets) return turns;
    }
  return {};
}

Block v_block(PipelineShape shape, StageIndex stage, const VSlopes& slopes) {
  Block block = v_passes(shape, stage, slopes, turns_of(shape, slopes));
  const std::int32_t up = block[2].time, down = block[3].time;
  const std::int32_t weights_up = first_free(block, 6, up + 1);
  block.push_back(start(weights_up, ActionKind::Weight, 1));
  // After the other: what both chunks share (tied embeddings) is complete with it.
  block.push_back(start(first_free(block, 6, std::max(down, weights_up) + 1), ActionKind::Weight, 0));
  return block;
}

// Of every period at most one microbatch starts a pass, and no two passes start at once: in the order of their places in the period.
std::vector<StageAction> repeated(Block block, std::int32_t length, std::int32_t microbatches) {
  std::ranges::sort(block, {}, [&](const Start& one) { return one.time % length; });
  const auto [first, last] = std::ranges::minmax(block, {}, &Start::time);
  std::vector<StageAction> order;
  order.reserve(block.size() * count_of(microbatches));
  for (std::int32_t period = first.time / length; period < last.time / length + microbatches; ++period)
    for (const Start& one : block) {
      const std::int32_t microbatch = period - one.time / length;
      if (0 <= microbatch && microbatch < microbatches) order.push_back({one.action.kind, MicrobatchIndex(microbatch), one.action.chunk});
    }
  return order;
}

template <Slopes kSlopes>
std::vector<StageAction> one_chunk_order(PipelineShape shape, StageIndex stage) {
  return repeated(one_chunk_block(shape, stage, kSlopes), 3, shape.microbatches);
}

template <VSlopes kSlopes>
std::vector<StageAction> v_order(PipelineShape shape, StageIndex stage) {
  return repeated(v_block(shape, stage, kSlopes), 6, shape.microbatches);
}

std::optional<std::string> why_not_split(PipelineShape shape) {
  if (auto why = why_not_one_chunk(shape)) return why;
  if (auto why = why_not_whole(shape)) return why;
  if (shape.stages >= 2) return std::nullopt;
  return fmt::format("needs at least 2 stages, not {}; use schedule=1f1b", shape.stages);
}

std::optional<std::string> why_not_v(PipelineShape shape) {
  if (auto why = why_not_a_shape(shape)) return why;
  if (auto why = why_not_whole(shape)) return why;
  if (shape.stages >= 2 && shape.chunks == 2) return std::nullopt;
  return fmt::format("places 2 chunks a stage on at least 2 stages, not {} on {}; use {}", shape.chunks, shape.stages,
                     shape.stages < 2 ? "schedule=1f1b" : "chunks=2");
}

constexpr std::string_view kZeroBubble = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024";
constexpr std::string_view kControllableMemory = "Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024";

}  // namespace

const Schedule kZb1pSchedule{
    .name = "zb-1p",
    .summary = "backward split in two, weight gradients fill the bubble; the memory of 1f1b",
    .paper = kZeroBubble,
    .why_unsupported = why_not_split,
    .order = one_chunk_order<Slopes{1, 2, 0}>,
    .splits_backward = true,
};
const Schedule kZb2pSchedule{
    .name = "zb-2p",
    .summary = "as zb-1p with twice the microbatches in flight: less of a bubble where passes differ in length",
    .paper = kZeroBubble,
    .why_unsupported = why_not_split,
    .order = one_chunk_order<Slopes{2, 4, 1}>,
    .splits_backward = true,
};
const Schedule kZbvSchedule{
    .name = "zbv",
    .summary = "backward split in two over two chunks in a V; equal memory on all stages, that of 1f1b's first",
    .paper = kControllableMemory,
    .why_unsupported = why_not_v,
    .order = v_order<VSlopes{4, 2, 4, 2}>,
    .splits_backward = true,
    .placement = ChunkPlacement::V,
};
const Schedule kVHalfSchedule{
    .name = "v-half",
    .summary = "as zbv with half of its memory and some bubble",
    .paper = kControllableMemory,
    .why_unsupported = why_not_v,
    .order = v_order<VSlopes{2, 1, 2, 1}>,
    .splits_backward = true,
    .placement = ChunkPlacement::V,
};
const Schedule kVMinSchedule{
    .name = "v-min",
    .summary = "as zbv with a third of its memory and more bubble",
    .paper = kControllableMemory,
    .why_unsupported = why_not_v,
    .order = v_order<VSlopes{1, 1, 1, 1}>,
    .splits_backward = true,
    .placement = ChunkPlacement::V,
};

}  // namespace sim
