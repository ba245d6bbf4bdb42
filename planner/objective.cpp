#include "planner/objective.h"

#include <algorithm>
#include <iterator>

#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace planner {
namespace {

constexpr ObjectiveWords kWords[] = {{"step time", "bound", "", "faster"},
                                     {"device time", "bound.cost", "dearer", "cheaper"},
                                     {"energy", "bound.energy", "hungrier", "thriftier"},
                                     {"time to train", "bound.training", "longer", "shorter"}};
constexpr std::string_view kStepOfOld = "time";

}  // namespace

std::optional<Objective> find_objective(std::string_view name) {
  if (name == kStepOfOld) return Objective::Step;
  const auto found = std::find(std::begin(kObjectiveNames), std::end(kObjectiveNames), name);
  if (found == std::end(kObjectiveNames)) return std::nullopt;
  return static_cast<Objective>(found - std::begin(kObjectiveNames));
}

const ObjectiveWords& words_of(Objective objective) { return sim::at(kWords, objective); }

std::string measure_text(Objective objective, double measure) {
  if (objective == Objective::Energy) return sim::to_text(sim::Joules(measure));
  if (objective == Objective::TimeToTrain) return sim::duration_text(sim::Seconds(measure));
  return sim::to_text(sim::Seconds(measure));
}

}  // namespace planner
