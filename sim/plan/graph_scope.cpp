#include "sim/plan/graph_scope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

namespace sim {

bool GraphScope::holds(Operation segment) const {
  if (is_all()) return true;
  if (segment == Operation::Attention || segment == Operation::LinearAttention) return names(GraphPart::Attention);
  return segment == Operation::Experts ? names(GraphPart::Router) : segment == Operation::Mlp && names(GraphPart::Mlp);
}

GraphScope GraphScope::with(GraphPart part) const {
  GraphScope more = *this;
  more.bits_ |= 1U << static_cast<std::uint32_t>(part);
  return more;
}

std::optional<GraphPart> graph_part(std::string_view name) {
  constexpr std::pair<std::string_view, GraphPart> kWithin[] = {
      {"mamba", GraphPart::Attention}, {"moe_preprocess", GraphPart::Router}, {"moe", GraphPart::Router}};
  for (std::size_t part = 0; part < std::size(kGraphPartNames); ++part)
    if (kGraphPartNames[part] == name) return static_cast<GraphPart>(part);
  for (const auto& [within, part] : kWithin)
    if (within == name) return part;
  return std::nullopt;
}

std::string to_text(GraphScope scope) {
  std::vector<std::string_view> names;
  for (std::size_t part = 0; part < std::size(kGraphPartNames); ++part)
    if (scope.names(static_cast<GraphPart>(part))) names.push_back(kGraphPartNames[part]);
  return fmt::format("{}", fmt::join(names, ","));
}

std::optional<GraphScope> parse_graph_scope(std::string_view text) {
  GraphScope scope;
  std::istringstream names{std::string(text)};
  for (std::string name; std::getline(names, name, ',');) {
    const std::optional<GraphPart> part = graph_part(name);
    if (!part) return std::nullopt;
    scope = scope.with(*part);
  }
  return scope;
}

}  // namespace sim
