#include "sim/schedule/interleaved.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/schedule/shape_rules.h"
#include "sim/units/at.h"

namespace sim {
namespace {

std::optional<std::string> why_unsupported(PipelineShape shape) {
  if (auto why = why_not_a_shape(shape)) return why;
  if (auto why = why_not_whole(shape)) return why;
  if (shape.stages < 2) return fmt::format("needs at least 2 stages, not {}; use schedule=1f1b", shape.stages);
  if (shape.chunks < 2) return fmt::format("needs at least 2 chunks a stage, not {}; use schedule=1f1b", shape.chunks);
  const std::int32_t last = shape.group == 0 ? 0 : shape.microbatches % shape.group;
  if (shape.group != 0 && (shape.group < shape.stages || shape.group > shape.microbatches || (last != 0 && last < shape.stages)))
    return fmt::format("groups of {} cut {} microbatches so that one is shorter than the {} stages; use another microbatch_group",
                       shape.group, shape.microbatches, shape.stages);
  return std::nullopt;
}

// Microbatches that pass a stage together: chunk by chunk, each all of the group.
struct Group {
  std::int32_t first = 0, size = 0;
};

// Of the size that is given, the last one shorter. Else as many groups as a group of every stage's own microbatch allows, as even as whole microbatches allow, the longer ones first: none is
// shorter than the pipeline (unless the step is), so no chunk waits for its own output.
std::vector<Group> groups_of(PipelineShape shape) {
  std::vector<Group> groups;
  for (std::int32_t first = 0; shape.group > 0 && first < shape.microbatches; first += shape.group)
    groups.push_back({.first = first, .size = std::min(shape.group, shape.microbatches - first)});
  if (!groups.empty()) return groups;
  const std::int32_t count = std::max(1, shape.microbatches / shape.stages);
  for (std::int32_t first = 0, at = 0; at < count; first += groups.back().size, ++at)
    groups.push_back({.first = first, .size = shape.microbatches / count + (at < shape.microbatches % count ? 1 : 0)});
  return groups;
}

// The forwards of every stage, in their order; backwards are these with the chunks mirrored.
std::vector<StageAction> forwards(PipelineShape shape) {
  std::vector<StageAction> actions;
  for (const Group& group : groups_of(shape))
    for (std::int32_t at = 0; at < group.size * shape.chunks; ++at)
      actions.push_back({ActionKind::Forward, MicrobatchIndex(group.first + at % group.size), ChunkIndex(at / group.size)});
  return actions;
}

std::vector<StageAction> interleaved_order(PipelineShape shape, StageIndex stage) {
  const std::vector<StageAction> forward = forwards(shape);
  const auto warm_up = count_of(2 * (shape.stages - 1 - stage.value()) + (shape.chunks - 1) * groups_of(shape).front().size);
  const std::size_t ahead = std::min(warm_up, forward.size());
  std::vector<StageAction> actions;
  actions.reserve(2 * forward.size());
  for (std::size_t at = 0; at < forward.size() + ahead; ++at) {
    if (at < forward.size()) actions.push_back(forward[at]);
    if (at < ahead) continue;
    const StageAction& mirrored = forward[at - ahead];
    actions.push_back({ActionKind::Backward, mirrored.microbatch, ChunkIndex(shape.chunks - 1 - mirrored.chunk.value())});
  }
  return actions;
}

}  // namespace

const Schedule kInterleavedSchedule{
    .name = "interleaved",
    .summary = "one forward, one backward over several chunks a stage; a smaller bubble for more sends",
    .paper = "Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, SC 2021",
    .why_unsupported = why_unsupported,
    .order = interleaved_order,
    .takes_groups = true,
};

}  // namespace sim
