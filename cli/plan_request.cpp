#include "cli/plan_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "cli/reliability.h"
#include "cli/subject.h"
#include "planner/constraints.h"
#include "planner/plan_candidate.h"
#include "planner/ranking.h"
#include "sim/recipe/recipe.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"
#include "sim/units/near_name.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

using Violations = std::vector<sim::Violation>;

std::string join(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

// Position of `value` in a table of names; 0 and a violation when it is not there.
std::size_t position_of(const std::string& option, const std::string& value, std::span<const std::string_view> names,
                        Violations& violations) {
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) {
    violations.push_back({option, "'" + value + "' is none of " + join(names),
                          sim::near_name_remedy(value, std::vector<std::string>(names.begin(), names.end()), "use one of these")});
    return 0;
  }
  return sim::position_in(names, found);
}

planner::Objective objective_of(const std::string& name, Violations& violations) {
  const auto objective = planner::find_objective(name);
  if (!objective) violations.push_back({"--objective", "'" + name + "' is none of " + join(planner::kObjectiveNames), "use one of these"});
  return objective.value_or(planner::Objective::Step);
}

sim::PrecisionPolicy precision_of(const PlanOptions& options, const sim::Cluster& cluster, Violations& violations) {
  Violations wrong;
  sim::PrecisionPolicy policy =
      options.precision.empty() ? sim::usual_precision(cluster.hardware.kind) : sim::parse_precision_policy(options.precision, wrong);
  for (const sim::Violation& violation : wrong) violations.push_back({"--precision", sim::located(violation), violation.remedy});
  if (!options.fp32_gradients) return policy;
  if (!sim::is_sixteen_bit(policy.compute()))
    violations.push_back(
        {"--fp32-gradients", "gradients have the precision of the weights already", "leave it out, or give --precision bf16"});
  return policy.with(sim::Numbers::Gradients, sim::Precision::Fp32);
}

// What keeps a plan from the programs that shall perform it: the worker, or another one.
Violations why_not(const sim::ParallelPlan& plan, bool by_worker, const sim::Program* program) {
  Violations found = by_worker ? sim::why_not_runnable(plan) : Violations();
  if (program != nullptr)
    for (sim::Violation& refused : sim::why_not_for(*program, plan)) found.push_back(std::move(refused));
  return found;
}

// What no layout mends: the network, or its numbers, whose types hang on the stage of ZeRO. Asked of one device, where nothing is cut.
void require_sayable(const PlanOptions& options, const planner::SearchRequest& request, const sim::Program& program) {
  planner::SearchRequest solo = request;
  solo.cluster.devices = 1;
  Violations of_first;
  for (const std::int32_t stage : {0, 1, 2, 3}) {
    Violations found = sim::why_not_for(program, planner::make_plan(solo, {.zero_stage = stage}));
    std::erase_if(found, [](const sim::Violation& one) { return !is_of_network(one); });
    if (found.empty()) return;
    if (stage == 0) of_first = std::move(found);
  }
  throw sim::InputError(fmt::format("{}, for {}", options.model, program.title), of_first);
}

// In as many digits as it has: of 3e-4 it is 3e-05, not 2.9999999999999997e-05.
double a_tenth(double number) { return std::stod(fmt::format("{:.15g}", number / 10)); }

// "5 %", "5%".
double share_of(const std::string& option, const std::string& text, Violations& violations) {
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const std::string_view unit(end, text.data() + text.size());
  const bool is_zero = percent == 0 && unit.empty();
  if (error == std::errc() && (unit == "%" || unit == " %" || is_zero) && percent >= 0 && percent <= 100) return percent / 100;
  violations.push_back({option, "'" + text + "' is no share from 0 % to 100 %", "write it like \"5 %\""});
  return 0;
}

void take_limits(const PlanOptions& options, planner::SearchRequest& request, Violations& violations) {
  request.risk = planner::accepted_risk(share_of("--risk", options.risk, violations));
  request.memory_limit = planner::memory_limit_of({.where = "--memory-limit", .value = options.memory_limit}, violations);
}

void take_objective(const ObjectiveOptions& options, planner::SearchRequest& request, Violations& violations) {
  request.objective = objective_of(options.objective, violations);
  request.whole = whole_training_of(options, request, violations);
  if (violations.empty()) violations = planner::why_not_ranked(request);
}

void judge_budget(const std::string& budget, Violations& violations) {
  const auto time = sim::parse_duration(budget);
  if (!budget.empty() && !(time && time->count() >= 0))
    violations.push_back({"--budget", "'" + budget + "' is no time", "write it like \"1s\" or \"5 min\""});
}

}  // namespace

void take_objective(const ObjectiveOptions& options, planner::SearchRequest& request) {
  Violations violations;
  take_objective(options, request, violations);
  if (!violations.empty()) throw sim::InputError("", violations);
}

void take_limits(const std::string& memory_limit, const std::string& risk, planner::SearchRequest& request) {
  Violations violations;
  PlanOptions options;
  options.memory_limit = memory_limit, options.risk = risk;
  take_limits(options, request, violations);
  if (!violations.empty()) throw sim::InputError("", violations);
}

std::optional<sim::Seconds> budget_of(const std::string& text) {
  Violations violations;
  judge_budget(text, violations);
  if (!violations.empty()) throw sim::InputError("", violations);
  return text.empty() ? std::nullopt : sim::parse_duration(text);
}

// Fields that have a language of their own, and what they may not be together with.
void take_words(const PlanOptions& options, planner::SearchRequest& request, Violations& violations) {
  std::vector<sim::Violation> wrong;
  request.model.adapters = sim::parse_adapters(options.adapters, wrong);
  for (const sim::Violation& one : wrong.empty() ? sim::adapter_violations(request.model) : wrong)
    violations.push_back({"--adapters", (wrong.empty() ? "" : "'" + one.where + "' ") + one.problem, one.remedy});
  wrong.clear();
  request.model.frozen = sim::parse_frozen_parts(options.frozen, wrong);
  for (const sim::Violation& one : wrong.empty() ? sim::frozen_violations(request.model) : wrong)
    violations.push_back({"--frozen", (wrong.empty() ? "" : "'" + one.where + "' ") + one.problem, one.remedy});
  wrong.clear();
  const auto tell = [&](const char* option) {
    for (const sim::Violation& one : std::exchange(wrong, {}))
      violations.push_back({option, "'" + one.where + "' " + one.problem, one.remedy});
  };
  request.workload.samples = sim::parse_samples_policy(options.samples, wrong);
  tell("--samples");
  request.workload.expert_loads = sim::parse_expert_loads(options.expert_loads, wrong);
  tell("--expert-loads");
  request.model.mtp_layers = options.mtp_layers;
  request.model.mtp_apart = options.mtp_apart;
  request.model.source_tokens = options.source_tokens;
  sim::ParallelPlan asked;
  asked.model = request.model;
  asked.workload = request.workload;
  for (const sim::Violation& one : sim::violations(asked))
    for (const auto& [where, option] : {std::pair("/workload/samples", "--samples"), std::pair("/workload/expert_loads", "--expert-loads"),
                                        std::pair("/workload/mtp_layers", "--mtp-layers"), std::pair("/workload/mtp_apart", "--mtp-apart"),
                                        std::pair("/workload/source_tokens", "--source-tokens")})
      if (one.where == where) violations.push_back({option, one.problem, one.remedy});
}

planner::SearchRequest search_request(const PlanOptions& options) {
  Violations violations;
  planner::SearchRequest request;
  request.model = sim::load_model_config(options.model);
  request.cluster = sim::load_cluster(options.cluster, sim::DeviceCount{options.devices});
  if (!options.software.empty()) request.cluster.software = sim::load_software(options.software);
  request.workload = {
      .sequence = options.sequence,
      .global_batch = options.global_batch,
      .precision = precision_of(options, request.cluster, violations),
      .optimizer = static_cast<sim::OptimizerKind>(position_of("--optimizer", options.optimizer, sim::kOptimizerNames, violations))};
  take_words(options, request, violations);
  take_limits(options, request, violations);
  request.gap = share_of("--gap", options.gap, violations);
  request.front = options.all;
  request.robust = options.robust;
  request.fewer = options.fewer;
  request.vocabulary_multiple = options.vocabulary_multiple;
  take_objective(options, request, violations);
  judge_budget(options.budget, violations);
  if (!(options.learning_rate > 0) || options.learning_rate > 1e6)
    violations.push_back(
        {"--learning-rate", fmt::format("is {}, which is no number above 0 and up to 1e6", options.learning_rate), "try 3e-4"});
  if (!violations.empty()) throw sim::InputError("", violations);
  if (const Violations found = planner::workload_violations(request); !found.empty()) throw sim::InputError(options.model, found);
  request.fixed = options.fixed;
  request.top = options.top;
  const sim::Program* program = sim::find_program(options.program);
  if (options.runnable || program != nullptr)
    request.why_not = [by_worker = options.runnable, program](const sim::ParallelPlan& plan) { return why_not(plan, by_worker, program); };
  request.habits = sim::habits_of_search(program);
  if (program != nullptr) {
    if (options.software.empty()) sim::take_software(*program, request.cluster);
    require_sayable(options, request, *program);
  }
  request.offload = options.offload;
  request.training.learning_rate = options.learning_rate;
  request.training.minimum_learning_rate = a_tenth(options.learning_rate);
  request.training.checkpoint_interval = options.checkpoint_interval;
  request.training.seed = options.seed;
  return request;
}

}  // namespace cli
