#include <algorithm>
#include <array>

#include "sim/plan/parallel_plan.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr std::array<std::string_view, 3> kTraining = {"model", "workload", "training"};
constexpr std::array<std::string_view, 2> kOfNoConsequence = {"checkpoint_interval", "keep_last"};

void collect(const std::string& pointer, const Json& before, const Json& now, std::vector<std::string>& found) {
  if (before == now) return;
  if (!before.is_object() || !now.is_object()) {
    found.push_back(pointer + ": " + before.dump() + " before, " + now.dump() + " now");
    return;
  }
  for (const auto& [key, value] : before.items()) collect(pointer + "/" + key, value, now.contains(key) ? now[key] : Json(), found);
  for (const auto& [key, value] : now.items())
    if (!before.contains(key)) collect(pointer + "/" + key, Json(), value, found);
}

Json fields(const ParallelPlan& plan, bool of_training) {
  Json json = to_json(plan), kept = Json::object();
  for (const std::string_view key : kOfNoConsequence) json["training"].erase(std::string(key));
  json.erase("predictions");
  for (const auto& [key, value] : json.items())
    if ((std::find(kTraining.begin(), kTraining.end(), key) != kTraining.end()) == of_training) kept[key] = value;
  return kept;
}

}  // namespace

PlanDifferences differences(const ParallelPlan& before, const ParallelPlan& now) {
  PlanDifferences found;
  collect("", fields(before, true), fields(now, true), found.training);
  collect("", fields(before, false), fields(now, false), found.layout);
  return found;
}

}  // namespace sim
