#include "planner/fixed_axes.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "sim/units/input_error.h"

namespace planner {
namespace {

// Readers return false when the text is no value of the axis; `accepted` says what would be.
bool read_degree(const std::string& text, std::optional<std::int32_t>& value) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return false;
  value = number;
  return true;
}

bool read_zero(const std::string& text, std::optional<std::int32_t>& value) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '3') return false;
  value = text[0] - '0';
  return true;
}

bool read_switch(const std::string& text, std::optional<bool>& value) {
  if (text != "true" && text != "false") return false;
  value = text == "true";
  return true;
}

template <class Enum, std::size_t N>
bool read_name(const std::string& text, const std::string_view (&names)[N], std::optional<Enum>& value) {
  const auto name = std::find(std::begin(names), std::end(names), text);
  if (name == std::end(names)) return false;
  value = static_cast<Enum>(name - std::begin(names));
  return true;
}

bool read_schedule(const std::string& text, std::optional<std::string>& value) {
  if (sim::find_schedule(text) == nullptr) return false;
  value = text;
  return true;
}

struct Axis {
  std::string_view name;
  bool (*read)(const std::string&, FixedAxes&);
  std::string_view accepted;
};

constexpr std::string_view kDegree = "a whole number of at least 1";
constexpr Axis kAxes[] = {
    {"data", [](const std::string& t, FixedAxes& a) { return read_degree(t, a.data); }, kDegree},
    {"tensor", [](const std::string& t, FixedAxes& a) { return read_degree(t, a.tensor); }, kDegree},
    {"pipeline", [](const std::string& t, FixedAxes& a) { return read_degree(t, a.pipeline); }, kDegree},
    {"context", [](const std::string& t, FixedAxes& a) { return read_degree(t, a.context); }, kDegree},
    {"context_algorithm", [](const std::string& t, FixedAxes& a) { return read_name(t, sim::kContextAlgorithmNames, a.context_algorithm); },
     "ring, all_gather, all_to_all"},
    {"expert", [](const std::string& t, FixedAxes& a) { return read_degree(t, a.expert); }, kDegree},
    {"replicas", [](const std::string& t, FixedAxes& a) { return read_degree(t, a.replicas); }, kDegree},
    {"chunks", [](const std::string& t, FixedAxes& a) { return read_degree(t, a.chunks); }, kDegree},
    {"microbatch", [](const std::string& t, FixedAxes& a) { return read_degree(t, a.microbatch); }, kDegree},
    {"zero", [](const std::string& t, FixedAxes& a) { return read_zero(t, a.zero); }, "0, 1, 2, 3"},
    {"accumulation", [](const std::string& t, FixedAxes& a) { return read_name(t, sim::kAccumulationNames, a.accumulation); },
     "reduce_last, reduce_each"},
    {"reshard", [](const std::string& t, FixedAxes& a) { return read_switch(t, a.reshard); }, "true, false"},
    {"layers_per_unit", [](const std::string& t, FixedAxes& a) { return read_degree(t, a.layers_per_unit); }, kDegree},
    {"reshard_ranks", [](const std::string& t, FixedAxes& a) { return read_degree(t, a.reshard_ranks); }, kDegree},
    {"sequence_parallel", [](const std::string& t, FixedAxes& a) { return read_switch(t, a.sequence_parallel); }, "true, false"},
    {"recompute", [](const std::string& t, FixedAxes& a) { return read_name(t, sim::kRecomputeNames, a.recompute); },
     "none, selective, full"},
    {"offload_optimizer", [](const std::string& t, FixedAxes& a) { return read_switch(t, a.offload_optimizer); }, "true, false"},
    {"offload_activations", [](const std::string& t, FixedAxes& a) { return read_switch(t, a.offload_activations); }, "true, false"},
    {"schedule", [](const std::string& t, FixedAxes& a) { return read_schedule(t, a.schedule); }, ""},
};

std::string schedule_names() {
  std::string names;
  for (const sim::Schedule& schedule : sim::all_schedules()) names += (names.empty() ? "" : ", ") + std::string(schedule.name);
  return names;
}

std::string axis_names() {
  std::string names;
  for (const Axis& axis : kAxes) names += (names.empty() ? "" : ", ") + std::string(axis.name);
  return names;
}

}  // namespace

FixedAxes read_fixed_axes(const Fixed& fixed) {
  FixedAxes axes;
  std::vector<sim::Violation> wrong;
  for (const auto& entry : fixed) {
    const std::string &name = entry.first, &text = entry.second;
    const auto axis = std::find_if(std::begin(kAxes), std::end(kAxes), [&](const Axis& known) { return known.name == name; });
    if (axis == std::end(kAxes)) {
      wrong.push_back({"--fix " + name, "there is no axis '" + name + "'", "use one of " + axis_names()});
    } else if (!axis->read(text, axes)) {
      const std::string accepted = axis->accepted.empty() ? schedule_names() : std::string(axis->accepted);
      wrong.push_back({"--fix " + name, "'" + text + "' is no value of " + name, "use " + accepted});
    }
  }
  if (!wrong.empty()) throw sim::InputError("--fix", std::move(wrong));
  return axes;
}

}  // namespace planner
