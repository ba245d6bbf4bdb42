#include <algorithm>

#include "gui/core/last_answer.h"
#include "gui/core/objective_json.h"
#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace gui {
namespace {

constexpr const char* kAnswerFormat = "meshwright.answer/2";

sim::Json jsonOf(const std::vector<planner::Argument>& arguments) {
  sim::Json json = sim::Json::array();
  for (const planner::Argument& argument : arguments) json.push_back({{"name", argument.name}, {"value", argument.value}});
  return json;
}
std::vector<planner::Argument> argumentsFrom(const sim::JsonReader& json) {
  std::vector<planner::Argument> arguments;
  for (const sim::JsonReader& argument : json.children("arguments")) arguments.push_back({argument.text("name"), argument.text("value")});
  return arguments;
}

sim::Json jsonOf(const sim::SimulationResult& result) {
  return {{"step_time", result.step_time.count()},
          {"tokens_per_second", result.tokens_per_second},
          {"mfu", result.mfu},
          {"bubble", result.bubble},
          {"exposed_communication", result.exposed_communication},
          {"peak_memory", result.peak_memory.value()},
          {"host_memory", result.host_memory.value()},
          {"host_fits", result.host_fits},
          {"fits", result.fits},
          {"tasks", result.num_tasks}};
}
sim::SimulationResult resultFrom(const sim::JsonReader& json) {
  constexpr sim::JsonReader::Range kAny{0, 9e18};
  sim::SimulationResult result;
  result.step_time = sim::SimTime(json.integer("step_time", {}, kAny));
  result.tokens_per_second = json.number("tokens_per_second");
  result.mfu = json.number("mfu");
  result.bubble = json.number("bubble");
  result.exposed_communication = json.number("exposed_communication");
  result.peak_memory = sim::Bytes(json.integer("peak_memory", {}, kAny));
  result.host_memory = sim::Bytes(json.integer("host_memory", {}, kAny));
  result.host_fits = json.boolean("host_fits");
  result.fits = json.boolean("fits");
  result.num_tasks = json.integer("tasks", {}, kAny);
  return result;
}

sim::Json jsonOf(const planner::RankedPlan& ranked) {
  sim::Json reasons = sim::Json::array();
  for (const planner::Reason& reason : ranked.reasons) reasons.push_back({{"code", reason.code}, {"arguments", jsonOf(reason.arguments)}});
  return {{"plan", sim::to_json(ranked.plan)},
          {"result", jsonOf(ranked.result)},
          {"reasons", reasons},
          {"why_not_best", ranked.why_not_best},
          {"out_of_memory_chance", ranked.out_of_memory_chance},
          {"measure", ranked.measure},
          {"slower_chance", ranked.slower_chance}};
}

// Plans are read when all else is known to be sound.
struct Ranked {
  planner::RankedPlan plan;
  const sim::Json* json = nullptr;
};
std::vector<Ranked> rankedFrom(const std::vector<sim::JsonReader>& all) {
  std::vector<Ranked> ranked;
  for (const sim::JsonReader& one : all) {
    Ranked& made = ranked.emplace_back();
    made.json = &one.child("plan").json();
    made.plan.result = resultFrom(one.child("result"));
    made.plan.why_not_best = one.text("why_not_best");
    made.plan.out_of_memory_chance = one.number("out_of_memory_chance", {}, {0, 1});
    made.plan.slower_chance = one.number("slower_chance", {}, {0, 1});
    made.plan.measure = one.number("measure", sim::to_seconds(made.plan.result.step_time).count(), {0, 1e300});
    made.plan.ranked_by = made.plan.measure;
    for (const sim::JsonReader& reason : one.children("reasons")) made.plan.reasons.push_back({reason.text("code"), argumentsFrom(reason)});
  }
  return ranked;
}
std::vector<planner::RankedPlan> withPlans(std::vector<Ranked> ranked, const std::string& path) {
  std::vector<planner::RankedPlan> plans;
  for (Ranked& one : ranked) {
    one.plan.plan = sim::plan_from_json(*one.json, path);
    plans.push_back(std::move(one.plan));
  }
  return plans;
}

sim::Json jsonOf(const planner::Exclusion& out) {
  return {{"family", out.family},
          {"code", out.code},
          {"reason", out.reason},
          {"arguments", jsonOf(out.arguments)},
          {"rule", out.rule},
          {"nearest_fix", out.nearest_fix},
          {"candidates", out.candidates}};
}
planner::Exclusion exclusionFrom(const sim::JsonReader& json) {
  return {.family = json.text("family"),
          .code = json.text("code"),
          .reason = json.text("reason"),
          .arguments = argumentsFrom(json),
          .rule = json.text("rule"),
          .nearest_fix = json.text("nearest_fix"),
          .candidates = json.integer("candidates")};
}

sim::Json jsonOf(const planner::WholeTraining& whole) {
  return {{"steps", whole.steps},
          {"mean_time_between_failures", whole.reliability.mean_time_between_failures.count()},
          {"restart", whole.reliability.restart.count()},
          {"save", whole.reliability.save.count()}};
}
planner::WholeTraining wholeFrom(const sim::JsonReader& json) {
  const auto seconds = [&](const char* key) { return sim::Seconds(json.number(key, {}, {0, 1e300})); };
  return {.steps = json.integer("steps"),
          .reliability = {
              .mean_time_between_failures = seconds("mean_time_between_failures"), .restart = seconds("restart"), .save = seconds("save")}};
}

template <class Value>
sim::Json jsonOfAll(const std::vector<Value>& values) {
  sim::Json all = sim::Json::array();
  for (const Value& value : values) all.push_back(jsonOf(value));
  return all;
}

}  // namespace

void saveAnswer(const PlanAnswer& answer, const std::string& path) {
  const planner::SearchResult& result = answer.result;
  sim::save_json_file({{"format", kAnswerFormat},
                       {"limit", answer.limit.value()},
                       {"objective", sim::at(planner::kObjectiveNames, answer.objective)},
                       {"training", jsonOf(answer.whole)},
                       {"counts",
                        {result.candidates, result.infeasible, result.pruned_memory, result.pruned_bound, result.simulated,
                         result.pruned_risk, result.open}},
                       {"proof", result.proof},
                       {"excluded", jsonOfAll(result.excluded)},
                       {"gap", result.gap.value_or(-1)},
                       {"risky", jsonOfAll(result.risky)},
                       {"ranked", jsonOfAll(result.ranked)},
                       {"front", jsonOfAll(result.pareto)}},
                      path);
}

PlanAnswer loadAnswer(const std::string& path) {
  const sim::Json json = sim::load_json_file(path);
  const sim::JsonReader reader(json, path);
  if (reader.text("format") != kAnswerFormat)
    reader.violate("format", "is none that this version reads", std::string("open a file of format ") + kAnswerFormat);
  PlanAnswer answer;
  answer.limit = sim::Bytes(reader.integer("limit"));
  answer.objective = objectiveFrom(reader);
  if (reader.has("training")) answer.whole = wholeFrom(reader.child("training"));
  const std::vector<std::int64_t> counts = reader.integers("counts");
  if (counts.size() != 7) reader.violate("counts", "are not seven", "search again");
  const double gap = reader.number("gap", -1, {-1, 1e9});
  if (gap >= 0) answer.result.gap = gap;
  answer.result.proof = reader.text("proof");
  for (const sim::JsonReader& out : reader.children("excluded")) answer.result.excluded.push_back(exclusionFrom(out));
  std::vector<Ranked> ranked = rankedFrom(reader.children("ranked")), front = rankedFrom(reader.children("front")),
                      risky = rankedFrom(reader.children("risky"));
  reader.finish();
  answer.result.candidates = counts[0];
  answer.result.infeasible = counts[1];
  answer.result.pruned_memory = counts[2];
  answer.result.pruned_bound = counts[3];
  answer.result.simulated = counts[4];
  answer.result.pruned_risk = counts[5];
  answer.result.open = counts[6];
  answer.result.ranked = withPlans(std::move(ranked), path);
  answer.result.pareto = withPlans(std::move(front), path);
  answer.result.risky = withPlans(std::move(risky), path);
  return answer;
}

}  // namespace gui
