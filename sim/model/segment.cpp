#include "sim/model/segment.h"

#include <algorithm>

#include "sim/units/at.h"

namespace sim {

std::vector<std::string_view> names_of(Modules modules) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < kNumModules; ++at)
    if (modules.has(static_cast<Module>(at))) names.push_back(kModuleNames[at]);
  return names;
}

std::optional<Module> module_named(std::string_view name) {
  const auto found = std::ranges::find(kModuleNames, name);
  return found == std::end(kModuleNames) ? std::nullopt : std::optional(static_cast<Module>(found - std::begin(kModuleNames)));
}

const Operator* SegmentGraph::attention() const {
  const auto found = std::ranges::find(operators, OperatorKind::Attention, &Operator::kind);
  return found == operators.end() ? nullptr : &*found;
}

bool SegmentGraph::has(OperatorKind kind) const {
  return std::ranges::any_of(operators, [&](const Operator& op) { return op.kind == kind; });
}

bool SegmentGraph::reads_source() const {
  return std::ranges::any_of(operators, [](const Operator& op) { return op.keys_of == Tokens::Source && op.tokens == Tokens::Target; });
}

bool SegmentGraph::leaves_tensor() const {
  return std::ranges::any_of(meets, [](const Meets& one) { return one.axis == SplitAxis::Tensor && one.meeting == Meeting::Leave; });
}

std::int32_t SegmentGraph::first_core() const {
  return static_cast<std::int32_t>(std::ranges::find(parts, false, &SegmentPart::is_side) - parts.begin());
}

std::int32_t SegmentGraph::last_core() const {
  std::int32_t at = static_cast<std::int32_t>(parts.size()) - 1;
  while (sim::at(parts, at).is_side) --at;
  return at;
}

bool are_equal(const SegmentGraph& a, const SegmentGraph& b) {
  return a.name == b.name && a.parts == b.parts && a.meets == b.meets && a.operators == b.operators;
}

}  // namespace sim
