#include <algorithm>

#include "gui/core/last_work.h"
#include "gui/core/objective_json.h"
#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace gui {
namespace {

constexpr const char* kWorkFormat = "meshwright.work/1";
constexpr std::size_t kMostPlans = 40;

sim::Json jsonOf(const PlanQuestion& question) {
  return {{"model", question.model},
          {"cluster", question.cluster},
          {"devices", question.devices},
          {"software", question.software},
          {"global_batch", question.global_batch},
          {"sequence", question.sequence},
          {"precision", question.precision},
          {"memory_limit", question.memory_limit},
          {"risk", question.risk},
          {"robust", question.robust},
          {"objective", sim::at(planner::kObjectiveNames, question.objective)},
          {"tokens", question.tokens},
          {"mtbf", question.mtbf},
          {"fewer", question.fewer},
          {"program", question.program}};
}

PlanQuestion questionFrom(const sim::JsonReader& json) {
  return {.model = json.text("model"),
          .cluster = json.text("cluster"),
          .devices = static_cast<std::int32_t>(json.integer("devices", {}, {0, 1e9})),
          .software = json.text("software"),
          .global_batch = json.integer("global_batch", {}, {1, 1e9}),
          .sequence = json.integer("sequence", {}, {1, 1e9}),
          .precision = json.text("precision"),
          .memory_limit = json.text("memory_limit"),
          .risk = json.number("risk", PlanQuestion().risk, {0, 1}),
          .robust = json.boolean("robust", false),
          .objective = objectiveFrom(json),
          .tokens = json.number("tokens", 0, {0, 1e18}),
          .mtbf = json.text("mtbf", ""),
          .fewer = json.boolean("fewer", false),
          .program = json.text("program")};
}

sim::Json jsonOf(const RunForm& run) { return {{"data", run.data}, {"folder", run.folder}, {"steps", run.steps}}; }
RunForm runFrom(const sim::JsonReader& json) {
  return {.data = json.text("data"), .folder = json.text("folder"), .steps = json.integer("steps", {}, {0, 1e9})};
}

// Each as a view that holds nothing else.
sim::Json jsonOf(const NotesByPlan& notes) {
  sim::Json all = sim::Json::array();
  for (const auto& [plan, marks] : notes) all.push_back({{"plan", plan}, {"view", toJson(ViewState{.marks = marks})}});
  return all;
}

struct Kept {
  std::vector<const sim::ParallelPlan*> plans;
  std::size_t shown = 0;
};

Kept keptOf(const LastWork& work) {
  Kept kept;
  const std::size_t end = std::min(work.plans.size(), work.shown + kMostPlans / 2), first = end - std::min(end, kMostPlans);
  for (std::size_t at = first; at < end; ++at) {
    if (!sim::violations(work.plans[at]).empty()) continue;
    kept.plans.push_back(&work.plans[at]);
    if (at <= work.shown) kept.shown = kept.plans.size() - 1;
  }
  return kept;
}

}  // namespace

void saveWork(const LastWork& work, const std::string& path) {
  const Kept kept = keptOf(work);
  sim::Json plans = sim::Json::array();
  for (const sim::ParallelPlan* plan : kept.plans) plans.push_back(sim::to_json(*plan));
  sim::save_json_file({{"format", kWorkFormat},
                       {"question", jsonOf(work.question)},
                       {"shown", kept.shown},
                       {"view", toJson(work.view)},
                       {"run", jsonOf(work.run)},
                       {"every_rank", work.every_rank},
                       {"dense", work.dense},
                       {"notes", jsonOf(work.notes)},
                       {"plans", plans}},
                      path);
}

LastWork loadWork(const std::string& path) {
  const sim::Json json = sim::load_json_file(path);
  const sim::JsonReader reader(json, path);
  if (reader.text("format") != kWorkFormat)
    reader.violate("format", "is none that this version reads", std::string("open a file of format ") + kWorkFormat);
  LastWork work;
  work.question = questionFrom(reader.child("question"));
  work.shown = static_cast<std::size_t>(reader.integer("shown"));
  const std::vector<sim::JsonReader> plans = reader.children("plans");
  if (work.shown >= std::max<std::size_t>(plans.size(), 1)) reader.violate("shown", "names a plan that is not there", "start afresh");
  if (reader.has("run")) work.run = runFrom(reader.child("run"));  // earlier versions did not keep them
  work.every_rank = reader.boolean("every_rank", false);
  work.dense = reader.boolean("dense", false);
  const sim::JsonReader view = reader.child("view");
  const std::vector<sim::JsonReader> notes = reader.children("notes");
  reader.finish();
  for (const sim::JsonReader& of_plan : notes) work.notes[of_plan.text("plan")] = viewFromJson(of_plan.child("view").json(), path).marks;
  work.view = viewFromJson(view.json(), path);
  for (const sim::JsonReader& plan : plans) work.plans.push_back(sim::plan_from_json(plan.json(), path));
  return work;
}

}  // namespace gui
