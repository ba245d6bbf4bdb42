#include "sim/schedule/interleaved.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/schedule/shape_rules.h"

namespace sim {
namespace {

std::int32_t num_groups(PipelineShape shape) { return std::max(1, shape.microbatches / shape.stages); }

std::optional<std::string> why_unsupported(PipelineShape shape) {
  if (const auto why = why_not_a_shape(shape)) return why;
  if (shape.stages < 2) return fmt::format("needs at least 2 stages, not {}; use schedule=1f1b", shape.stages);
  if (shape.chunks < 2) return fmt::format("needs at least 2 chunks a stage, not {}; use schedule=1f1b", shape.chunks);
  const std::int32_t groups = num_groups(shape);
  if (shape.microbatches % groups == 0) return std::nullopt;
  return fmt::format("{} microbatches do not divide into {} groups ({} microbatches on {} stages); use {} microbatches", shape.microbatches,
                     groups, shape.microbatches, shape.stages, shape.microbatches / shape.stages * shape.stages);
}

// The k-th forward of every stage.
StageAction forward(PipelineShape shape, std::int32_t k) {
  const std::int32_t group_size = shape.microbatches / num_groups(shape);
  const std::int32_t in_group = k % (group_size * shape.chunks);
  const std::int32_t microbatch = k / (group_size * shape.chunks) * group_size + in_group % group_size;
  return {ActionKind::Forward, MicrobatchIndex(microbatch), ChunkIndex(in_group / group_size)};
}

StageAction backward(PipelineShape shape, std::int32_t k) {
  const StageAction mirrored = forward(shape, k);
  return {ActionKind::Backward, mirrored.microbatch, ChunkIndex(shape.chunks - 1 - mirrored.chunk.value())};
}

std::vector<StageAction> interleaved_order(PipelineShape shape, StageIndex stage) {
  const std::int32_t all = shape.microbatches * shape.chunks;
  const std::int32_t group_size = shape.microbatches / num_groups(shape);
  const std::int32_t warm_up = std::min(2 * (shape.stages - 1 - stage.value()) + (shape.chunks - 1) * group_size, all);
  std::vector<StageAction> actions;
  actions.reserve(2 * static_cast<std::size_t>(all));
  for (std::int32_t i = 0; i < all + warm_up; ++i) {
    if (i < all) actions.push_back(forward(shape, i));
    if (i >= warm_up) actions.push_back(backward(shape, i - warm_up));
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
};

}  // namespace sim
