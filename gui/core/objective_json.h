// What plans are ranked by, as files of the window hold it: by name, also those of old.
#pragma once

#include "planner/objective.h"
#include "sim/units/json_reader.h"

namespace gui {

inline planner::Objective objectiveFrom(const sim::JsonReader& json) {
  const auto objective = planner::find_objective(json.text("objective", std::string(planner::kObjectiveNames[0])));
  if (!objective) json.violate("objective", "is none that plans are ranked by", "search again");
  return objective.value_or(planner::Objective::Step);
}

}  // namespace gui
