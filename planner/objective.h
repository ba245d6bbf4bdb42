// What plans can be ranked by. One row each: what it is called, and how reasons tell of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace planner {

enum class Objective : std::uint8_t {
  Step,         // how long a step takes
  Cost,         // how long all devices together spend on it
  Energy,       // what they draw for it (sim/cluster/device_power.h)
  TimeToTrain,  // what the whole training takes in expectation, on devices that fail (sim/goodput/expected_goodput.h)
};
inline constexpr std::string_view kObjectiveNames[] = {"step", "cost", "energy", "time-to-train"};

// Also by a name of old: "time" is step.
std::optional<Objective> find_objective(std::string_view name);

struct ObjectiveWords {
  std::string_view quantity;  // "step time"
  std::string_view bound;     // code of the reason why a family is beaten
  std::string_view more;      // of why a plan is behind; empty: its step says it
  std::string_view less;      // of what it would gain
};
const ObjectiveWords& words_of(Objective objective);

// A measure of it: seconds, of a device or of a training, or joules.
std::string measure_text(Objective objective, double measure);

}  // namespace planner
