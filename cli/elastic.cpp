// plan --elastic: a folder of plans, one for each number of nodes that may be left, all of one training.
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/documents_json.h"
#include "cli/elastic.h"
#include "cli/exit_code.h"
#include "cli/followed_search.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/plan_request.h"
#include "cli/plan_text.h"
#include "cli/report.h"
#include "cli/results.h"
#include "cli/table.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

std::string file_name(std::int32_t nodes) { return fmt::format("nodes_{}.json", nodes); }

planner::NodeRange nodes_of(const PlanOptions& options, const planner::SearchRequest& request) {
  std::vector<sim::Violation> violations;
  const auto range = planner::node_range(options.elastic, request.cluster, violations);
  if (options.output.empty()) violations.push_back({"--output", "is not given", "name the folder that the plans go to"});
  if (!violations.empty()) throw sim::InputError("", violations);
  return *range;
}

std::string note_of(const planner::ElasticPlan& plan) {
  if (!plan.best) return "no plan is feasible";
  return plan.rather ? fmt::format("faster on {} nodes, the others idle", *plan.rather) : "";
}

std::vector<std::vector<std::string>> rows_of(const std::vector<planner::ElasticPlan>& plans) {
  std::vector<std::vector<std::string>> rows{{"nodes", "step", "tokens/s", "memory", "file", ""}};
  for (const planner::ElasticPlan& plan : plans) {
    std::vector<std::string> row{std::to_string(plan.nodes), "-", "-", "-", "-", note_of(plan)};
    if (plan.best) {
      const sim::SimulationResult& result = plan.best->result;
      row[1] = sim::to_text(sim::to_seconds(result.step_time)), row[2] = fmt::format("{:.0f}", result.tokens_per_second);
      row[3] = sim::to_text(result.peak_memory), row[4] = file_name(plan.nodes);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string elastic_text(const std::string& folder, const std::vector<planner::ElasticPlan>& plans) {
  std::string text = table_text(rows_of(plans)) + "\n";
  for (const planner::ElasticPlan& plan : plans)
    text += wrapped(fmt::format("on {}: {}", sim::counted(plan.nodes, "node"), plan.best ? plan_summary(plan.best->plan) : plan.proof));
  return text + "\n" + wrapped(fmt::format("The plans are in {}: one training, whichever takes over.", folder)) +
         wrapped(fmt::format("Next: meshwright run {} ... --max-restarts 3 --fallback FILE, of the nodes that will be left",
                             elastic_file(folder, plans.front().nodes)));
}

// What is left of the time, in equal parts for the questions that are left: what one does not take the next ones have.
class SharedBudget {
 public:
  explicit SharedBudget(std::optional<sim::Seconds> all) : all_(all) {}
  std::optional<sim::Seconds> share(std::int32_t questions) const {
    if (!all_) return std::nullopt;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    return std::max(sim::Seconds(0), *all_ - sim::Seconds(spent.count())) / questions;
  }

 private:
  std::optional<sim::Seconds> all_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::string elastic_file(const std::string& folder, std::int32_t nodes) { return folder + "/" + file_name(nodes); }

int run_elastic(const PlanOptions& options, const Console& console) {
  const planner::SearchRequest request = search_request(options);
  const planner::NodeRange nodes = nodes_of(options, request);
  std::vector<Output> outputs;
  for (std::int32_t number = nodes.most; number >= nodes.least; --number) outputs.push_back({elastic_file(options.output, number)});
  std::filesystem::create_directories(options.output);
  require_outputs(outputs, {options.model, options.cluster, options.software});
  std::optional<tbb::global_control> limit;
  if (options.threads > 0) limit.emplace(tbb::global_control::max_allowed_parallelism, sim::count_of(options.threads));
  SharedBudget budget(budget_of(options.budget));
  bool ended = false;
  const std::vector<planner::ElasticPlan> plans = planner::search_elastic(
      request, nodes,
      [&](const planner::SearchRequest& one, std::int32_t left) {
        const std::string what = "plan: " + sim::counted(one.cluster.devices / one.cluster.devices_per_node(), "node");
        FollowedSearch followed = followed_search(planner::search, one, what, budget.share(left));
        ended = ended || followed.ended;
        return std::move(followed.result);
      },
      &interrupted());
  bool found = false;
  for (const planner::ElasticPlan& plan : plans) {
    if (!plan.best) continue;
    sim::save_plan(plan.best->plan, elastic_file(options.output, plan.nodes));
    found = true;
  }
  console.note(notes_of(options, request));
  if (!plans.empty()) console.result(elastic_text(options.output, plans), [&] { return elastic_document(options.output, plans); });
  return interrupted() ? kInterrupted : found ? kSuccess : ended ? kLimitReached : kNoFeasiblePlan;
}

}  // namespace cli
