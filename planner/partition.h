// Where the pipeline is cut: contiguous parts of priced layers, the slowest part as fast as possible.
// Prices come from outside; memory plays no role here.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/units/sim_time.h"

namespace planner {

enum class HeadPlace : std::uint8_t { BehindALayer, MayStandAlone };  // in its part; alone where predictions of further tokens may, too

// layer_times: embedding, inner layers, head: one microbatch through each, forward and backward. Each part gets at least one inner layer, but for a
// head that may stand alone; the embedding stays in the first and the head in the last. Among the optimal cuts the one nearest to even_cut, which is
// therefore returned itself whenever it is optimal. O(L log(total picoseconds)).
sim::StageCut optimal_cut(const std::vector<sim::SimTime>& layer_times, sim::PipelineShape shape, HeadPlace head = HeadPlace::BehindALayer);

sim::SimTime slowest_part(const std::vector<sim::SimTime>& layer_times, const sim::StageCut& cut);

}  // namespace planner
