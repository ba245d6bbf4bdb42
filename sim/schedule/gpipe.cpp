#include "sim/schedule/gpipe.h"

#include "sim/schedule/shape_rules.h"
#include "sim/units/at.h"

namespace sim {
namespace {

std::vector<StageAction> gpipe_order(PipelineShape shape, StageIndex) {
  std::vector<StageAction> actions;
  actions.reserve(count_of(2 * num_pieces(shape)));
  for (const ActionKind kind : {ActionKind::Forward, ActionKind::Backward})
    for (std::int32_t piece = 0; piece < num_pieces(shape); ++piece) actions.push_back(piece_of(shape, kind, piece));
  return actions;
}

}  // namespace

const Schedule kGpipeSchedule{
    .name = "gpipe",
    .summary = "all forwards, then all backwards; holds every microbatch",
    .paper = "Huang et al., GPipe, NeurIPS 2019",
    .why_unsupported = why_not_one_chunk,
    .order = gpipe_order,
};

}  // namespace sim
