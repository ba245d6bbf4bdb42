#include "gui/core/plan_question.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "gui/core/file_kind.h"
#include "planner/constraints.h"
#include "planner/ranking.h"
#include "sim/recipe/recipe.h"
#include "sim/units/profile_search.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

sim::ModelConfig modelOf(const std::string& path) {
  return kindOfFile(path) == FileKind::Plan ? sim::load_plan(path).model : sim::load_model_config(path);
}

bool isPlanFile(const std::string& path) { return std::filesystem::is_regular_file(path) && kindOfFile(path) == FileKind::Plan; }

// By their names in profiles/, if that is what the plan has.
bool isNamed(const sim::ParallelPlan& plan, const PlanQuestion& question) {
  try {
    sim::ParallelPlan named = plan;
    named.cluster = clusterOf(question);
    return sim::plan_hash(named) == sim::plan_hash(plan);
  } catch (const sim::InputError&) {
    return false;
  }
}

sim::PrecisionPolicy precisionOf(const PlanQuestion& question, sim::DeviceKind device) {
  if (question.precision.empty()) return sim::usual_precision(device);
  std::vector<sim::Violation> wrong;
  const sim::PrecisionPolicy policy = sim::parse_precision_policy(question.precision, wrong);
  if (!wrong.empty()) throw sim::InputError("", {{"precision", "cannot be simulated yet", "choose fp32, tf32, bf16 or fp16"}});
  return policy;
}

std::vector<std::string> namesIn(std::initializer_list<const char*> folders) {
  std::set<std::string> names;
  for (const std::filesystem::path& root : sim::profile_folders())
    for (const char* folder : folders) {
      std::error_code none_there;
      for (const auto& entry : std::filesystem::directory_iterator(root / folder, none_there))
        if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
    }
  return {names.begin(), names.end()};
}

// The first that is there.
std::string inProfiles(const char* name) {
  std::error_code none_there;
  for (const std::filesystem::path& root : sim::profile_folders())
    if (std::filesystem::exists(root / name, none_there)) return (root / name).string();
  return name;
}

}  // namespace

PlanQuestion questionOf(const sim::ParallelPlan& plan, const std::string& file, PlanQuestion asked) {
  asked.global_batch = plan.workload.global_batch;
  asked.sequence = plan.workload.sequence;
  asked.precision = sim::to_text(plan.workload.precision);
  if (file.empty()) return asked;
  asked.model = file;
  asked.devices = plan.cluster.devices;
  asked.cluster = plan.cluster.hardware.name;
  asked.software = plan.cluster.software.name.empty() ? "plain" : plan.cluster.software.name;
  if (!isNamed(plan, asked)) asked.cluster = file;
  return asked;
}

std::int64_t sequenceFor(const sim::ModelConfig& model, std::int64_t asked) {
  return model.max_positions > 0 ? std::min(asked, model.max_positions) : asked;
}

std::optional<sim::ModelConfig> knownModel(const std::string& path) {
  try {
    if (std::filesystem::is_regular_file(path)) return modelOf(path);
  } catch (const std::exception&) {  // who asks for it is told why
  }
  return std::nullopt;
}

// What a plan says of its software is part of it.
sim::Cluster clusterOf(const PlanQuestion& question) {
  if (isPlanFile(question.cluster)) {
    sim::Cluster cluster = sim::load_plan(question.cluster).cluster;
    if (question.devices > 0) cluster.devices = question.devices;
    if (!question.software.empty() && question.software != cluster.software.name) cluster.software = sim::load_software(question.software);
    return cluster;
  }
  sim::Cluster cluster = sim::load_cluster(question.cluster, sim::DeviceCount{question.devices});
  if (!question.software.empty()) cluster.software = sim::load_software(question.software);
  return cluster;
}

namespace {

// Saves and restarts as `meshwright plan` takes them where they are not given.
planner::WholeTraining wholeTraining(const PlanQuestion& question, std::vector<sim::Violation>& violations) {
  planner::WholeTraining whole;
  const double step = static_cast<double>(question.global_batch) * static_cast<double>(question.sequence);
  whole.steps = static_cast<std::int64_t>(std::ceil(question.tokens / step));
  whole.reliability.restart = sim::Seconds(600);
  whole.reliability.save = sim::Seconds(30);
  if (question.mtbf.empty()) return whole;
  const auto mtbf = sim::parse_duration(question.mtbf);
  if (mtbf && mtbf->count() > 0)
    whole.reliability.mean_time_between_failures = *mtbf;
  else
    violations.push_back({"time between failures", "'" + question.mtbf + "' is no time above 0", "write it with its unit, like 5.8 y"});
  return whole;
}

}  // namespace

planner::SearchRequest searchRequest(const PlanQuestion& question) {
  if (question.model.empty())
    throw sim::InputError("", {{"model", "no model is chosen", "open a Hugging Face config.json, or drop one on the window"}});
  std::vector<sim::Violation> violations;
  planner::SearchRequest request;
  request.model = modelOf(question.model);
  request.cluster = clusterOf(question);
  request.workload.sequence = question.sequence;
  request.workload.global_batch = question.global_batch;
  request.workload.precision = precisionOf(question, request.cluster.hardware.kind);
  request.workload.optimizer = sim::OptimizerKind::AdamW;
  request.memory_limit = planner::memory_limit_of({.where = "memory limit", .value = question.memory_limit}, violations);
  if (!violations.empty()) throw sim::InputError("", violations);
  if (const std::vector<sim::Violation> found = planner::workload_violations(request); !found.empty())
    throw sim::InputError(question.model, found);
  request.risk = planner::accepted_risk(question.risk);
  request.robust = question.robust;
  request.objective = question.objective;
  if (question.objective == planner::Objective::TimeToTrain) request.whole = wholeTraining(question, violations);
  request.fewer = question.fewer;
  if (violations.empty()) violations = planner::why_not_ranked(request);
  if (!violations.empty()) throw sim::InputError("", violations);
  request.top = question.top;
  const sim::Program* const program = sim::find_program(question.program);
  request.habits = sim::habits_of_search(program);
  if (question.program == kWorker)
    request.why_not = sim::why_not_runnable;
  else if (program != nullptr) {
    request.why_not = [program](const sim::ParallelPlan& plan) { return sim::why_not_for(*program, plan); };
    sim::take_software(*program, request.cluster);
  }
  return request;
}

std::int32_t devicesOf(const std::string& cluster, std::int32_t asked) {
  try {
    return sim::load_cluster(cluster, sim::DeviceCount{}).devices;
  } catch (const sim::InputError&) {
    return sim::load_cluster(cluster, sim::DeviceCount{asked}).devices;  // or the reasons to mend
  }
}

std::vector<std::string> knownClusters() { return namesIn({"hardware", "clusters"}); }
std::vector<std::string> knownSoftware() { return namesIn({"software"}); }

std::string modelsFolder() { return inProfiles("models"); }
std::string exampleText() { return inProfiles("published/rows.json"); }

}  // namespace gui
