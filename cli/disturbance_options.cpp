#include "cli/disturbance_options.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "sim/units/input_error.h"

namespace cli {
namespace {

using Violations = std::vector<sim::Violation>;

struct NamedFactor {
  std::string name;
  double factor = 1;
};

std::optional<NamedFactor> split_factor(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return std::nullopt;
  NamedFactor found{.name = text.substr(0, equals)};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data() + equals + 1, end, found.factor);
  return error == std::errc{} && stopped == end ? std::optional(found) : std::nullopt;
}

class Reader {
 public:
  Reader(const sim::ParallelPlan& plan, Violations& violations) : plan_(plan), topology_(plan.cluster), violations_(violations) {}

  std::optional<sim::SlowRank> slow_rank(const std::string& text) {
    const auto named = split_factor(text);
    std::int32_t rank = -1;
    if (named) std::from_chars(named->name.data(), named->name.data() + named->name.size(), rank);
    if (!named || std::to_string(rank) != named->name || rank < 0 || rank >= plan_.mesh.ranks() ||
        !(named->factor >= 1 && named->factor <= 1e6)) {
      violations_.push_back({"--slow-rank",
                             fmt::format("\"{}\" is no rank from 0 to {} with a factor from 1 to 1e6", text, plan_.mesh.ranks() - 1),
                             "write it like 0=1.5: rank 0 computes 1.5 times as long"});
      return std::nullopt;
    }
    return sim::SlowRank{sim::Rank(rank), named->factor};
  }

  std::optional<sim::SlowLink> slow_link(const std::string& text) {
    const auto named = split_factor(text);
    if (!named || !(named->factor >= 1e-3 && named->factor <= 1)) {
      violations_.push_back({"--slow-link", fmt::format("\"{}\" names no share from 0.001 to 1", text),
                             "write it like \"uplink 0=0.5\": half of its bandwidth is left"});
      return std::nullopt;
    }
    const auto link = find("--slow-link", named->name);
    return link ? std::optional(sim::SlowLink{*link, named->factor}) : std::nullopt;
  }

  std::optional<sim::SlowLink> lost_link(const std::string& name) {
    const auto link = find("--lost-link", name);
    if (!link) return std::nullopt;
    const bool is_port = link->value() < plan_.cluster.devices;
    const std::int32_t lanes = (is_port ? plan_.cluster.hardware.intra_node : plan_.cluster.hardware.inter_node).lanes;
    if (lanes > 1) return sim::SlowLink{*link, 1 - 1.0 / lanes};
    violations_.push_back(
        {"--lost-link", fmt::format("{} is a single lane in {}: without it no step can end", name, plan_.cluster.hardware.name),
         fmt::format("state \"lanes\" of {} in the profile if it has several, or use --slow-link", is_port ? "intra_node" : "inter_node")});
    return std::nullopt;
  }

 private:
  std::optional<sim::LinkId> find(std::string_view option, const std::string& name) {
    const std::int32_t carriers = plan_.cluster.devices + plan_.cluster.nodes();  // ports and uplinks
    for (sim::LinkId link(0); link.value() < carriers; ++link)
      if (topology_.links()[link.position()].name == name) return link;
    violations_.push_back({std::string(option),
                           fmt::format("\"{}\" is no link of {} devices on {} nodes", name, plan_.cluster.devices, plan_.cluster.nodes()),
                           "name a device's link like \"port 0\", a node's like \"uplink 0\""});
    return std::nullopt;
  }

  const sim::ParallelPlan& plan_;
  sim::Topology topology_;
  Violations& violations_;
};

// The last would count, and the others nothing.
void refuse_twice(const sim::Disturbances& found, Violations& violations) {
  std::set<sim::Rank> ranks;
  for (const sim::SlowRank& slow : found.ranks)
    if (!ranks.insert(slow.rank).second)
      violations.push_back({"--slow-rank", fmt::format("names rank {} twice", slow.rank.value()), "keep one factor"});
  std::set<sim::LinkId> links;
  for (const sim::SlowLink& slow : found.links)
    if (!links.insert(slow.link).second)
      violations.push_back(
          {"--slow-link", "names a link twice, with --lost-link or without", "say once what is left of it: \"uplink 0=0.5\""});
}

}  // namespace

sim::Disturbances disturbances_of(const SimulateOptions& options, const sim::ParallelPlan& plan) {
  Violations violations;
  Reader reader(plan, violations);
  sim::Disturbances found;
  for (const std::string& text : options.slow_ranks)
    if (const auto slow = reader.slow_rank(text)) found.ranks.push_back(*slow);
  for (const std::string& text : options.slow_links)
    if (const auto slow = reader.slow_link(text)) found.links.push_back(*slow);
  for (const std::string& text : options.lost_links)
    if (const auto slow = reader.lost_link(text)) found.links.push_back(*slow);
  refuse_twice(found, violations);
  if (!violations.empty()) throw sim::InputError("", violations);
  return found;
}

}  // namespace cli
