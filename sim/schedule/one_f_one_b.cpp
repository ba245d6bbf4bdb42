#include "sim/schedule/one_f_one_b.h"

#include <algorithm>

#include "sim/schedule/shape_rules.h"
#include "sim/units/at.h"

namespace sim {
namespace {

std::vector<StageAction> one_f_one_b_order(PipelineShape shape, StageIndex stage) {
  const std::int32_t m = num_pieces(shape);
  const std::int32_t warm_up = std::min(shape.stages - 1 - stage.value() + shape.slices - 1, m);
  std::vector<StageAction> actions;
  actions.reserve(count_of(2 * m));
  // Backward i follows forward i + warm_up, as long as there is one.
  for (std::int32_t i = 0; i < m + warm_up; ++i) {
    if (i < m) actions.push_back(piece_of(shape, ActionKind::Forward, i));
    if (i >= warm_up) actions.push_back(piece_of(shape, ActionKind::Backward, i - warm_up));
  }
  return actions;
}

}  // namespace

const Schedule kOneFOneBSchedule{
    .name = "1f1b",
    .summary = "one forward, one backward; holds at most one microbatch a later stage",
    .paper = "Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021",
    .why_unsupported = why_not_one_chunk,
    .order = one_f_one_b_order,
};

}  // namespace sim
