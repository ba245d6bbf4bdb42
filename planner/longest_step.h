// Bounds are sums of whole picoseconds, and the clock holds 106 days of them: a price is cut off, which leaves a bound a bound, and what a step sums up is asked
// beforehand, in real numbers. Else a sum would come out less than nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/model/model_graph.h"
#include "sim/units/sim_time.h"

namespace planner {

class StageLayerPrices;
struct StageStepPrices;
struct StageTransfers;

inline constexpr sim::SimTime kLongestPrice(std::int64_t{1} << 47);                   // 141 s, of a task: sums over layers have room
inline constexpr sim::SimTime kLongestStep(std::int64_t{4'000'000'000'000'000'000});  // 46 days: what takes longer is not told apart

constexpr sim::SimTime cut_off(sim::SimTime price) { return std::min(price, kLongestPrice); }
constexpr double picoseconds(sim::SimTime time) { return static_cast<double>(time.count()); }
constexpr sim::SimTime clamped(double picoseconds) {
  return picoseconds < static_cast<double>(kLongestStep.count()) ? sim::SimTime(static_cast<std::int64_t>(picoseconds)) : kLongestStep;
}
constexpr bool is_too_long(double picoseconds) { return clamped(picoseconds) == kLongestStep; }

// Picoseconds that no sum of these prices exceeds: of one microbatch through all layers, between all stages, and of a step's buckets if each is moved once.
double most(const sim::ModelGraph& model, const StageLayerPrices& layers);
double most(const std::vector<StageTransfers>& transfers);
double most(const std::vector<StageStepPrices>& steps);

}  // namespace planner
