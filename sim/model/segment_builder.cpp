#include "sim/model/segment_builder.h"

#include <boost/graph/topological_sort.hpp>

namespace sim {

std::size_t SegmentBuilder::add(std::int32_t part, Operator op) {
  const std::size_t at = graph_.operators.size();
  if (at > 0) edges_.emplace_back(at - 1, at);
  op.part = part;
  graph_.operators.push_back(std::move(op));
  return at;
}

SegmentGraph SegmentBuilder::finish() && {
  const std::size_t count = graph_.operators.size();
  using Graph = SegmentGraph::Graph;
  const Graph edges(boost::edges_are_unsorted_multi_pass, edges_.begin(), edges_.end(), count);
  std::vector<std::size_t> order;  // last operator first
  boost::topological_sort(edges, std::back_inserter(order));
  std::vector<std::size_t> place(count);
  std::vector<Operator> sorted;
  for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
    place[*vertex] = sorted.size();
    sorted.push_back(std::move(graph_.operators[*vertex]));
  }
  for (auto& [from, to] : edges_) from = place[from], to = place[to];
  graph_.operators = std::move(sorted);
  graph_.edges = Graph(boost::edges_are_unsorted_multi_pass, edges_.begin(), edges_.end(), count);
  return std::move(graph_);
}

}  // namespace sim
