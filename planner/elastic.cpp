#include "planner/elastic.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace planner {
namespace {

std::optional<std::int32_t> number_of(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

SearchRequest on_nodes(const SearchRequest& request, std::int32_t nodes) {
  SearchRequest one = request;
  one.cluster.devices = nodes * request.cluster.devices_per_node();
  one.top = 1;
  one.front = false;
  return one;
}

ElasticPlan best_of(SearchResult found, std::int32_t nodes) {
  ElasticPlan plan{.nodes = nodes, .best = std::nullopt, .gap = found.gap, .proof = std::move(found.proof)};
  if (!found.ranked.empty()) plan.best = std::move(found.ranked.front());
  return plan;
}

// A number of nodes with few divisors may be slower than a smaller one.
void compare_with_fewer(std::vector<ElasticPlan>& plans) {
  const ElasticPlan* fastest = nullptr;
  for (auto plan = plans.rbegin(); plan != plans.rend(); ++plan) {
    if (!plan->best) continue;
    if (fastest != nullptr && fastest->best->result.step_time < plan->best->result.step_time)
      plan->rather = fastest->nodes;
    else
      fastest = &*plan;
  }
}

}  // namespace

std::optional<NodeRange> node_range(const std::string& text, const sim::Cluster& cluster, std::vector<sim::Violation>& violations) {
  const std::size_t dots = text.find("..");
  const std::string_view all = text;
  const auto most = number_of(all.substr(0, dots)), least = number_of(dots == std::string::npos ? all : all.substr(dots + 2));
  const std::int32_t there = cluster.devices / cluster.devices_per_node();
  if (!most || !least || *least > *most)
    violations.push_back({"--elastic", "'" + text + "' is no range of nodes", "write the most, two dots and the least: 16..8"});
  else if (*most > there)
    violations.push_back(
        {"--elastic", fmt::format("begins with {} nodes of {} devices, and the cluster has {}", *most, cluster.devices_per_node(), there),
         fmt::format("begin with {} at most, or give more --devices", there)});
  else
    return NodeRange{*most, *least};
  return std::nullopt;
}

std::vector<ElasticPlan> search_elastic(const SearchRequest& request, NodeRange nodes, const AskNodes& ask,
                                        const std::atomic<bool>* cancel) {
  std::vector<ElasticPlan> plans;
  for (std::int32_t number = nodes.most; number >= nodes.least; --number) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) break;
    plans.push_back(best_of(ask(on_nodes(request, number), number - nodes.least + 1), number));
  }
  compare_with_fewer(plans);
  return plans;
}

}  // namespace planner
