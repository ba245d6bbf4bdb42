#include "gui/core/flows.h"

namespace gui {

std::vector<Flow> flowsOf(const sim::TaskGraph& graph, const sim::Dependencies& step) {
  std::vector<Flow> flows;
  for (std::size_t from = 0; from < graph.tasks().size(); ++from) {
    const auto [begin, end] = boost::adjacent_vertices(from, graph.edges());
    for (auto to = begin; to != end; ++to) {
      if (graph.tasks()[from].device == graph.tasks()[*to].device || step.span_of[from] < 0 || step.span_of[*to] < 0) continue;
      flows.push_back({static_cast<std::uint32_t>(step.span_of[from]), static_cast<std::uint32_t>(step.span_of[*to])});
    }
  }
  return flows;
}

}  // namespace gui
