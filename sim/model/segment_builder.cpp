#include "sim/model/segment_builder.h"

#include <boost/graph/topological_sort.hpp>

namespace sim {

namespace {

// Tensor ranks cut what the product cuts: A along its inputs, or B along its outputs. What is whole is computed by each of them, of all tokens.
Operator adapter_of(const Operator& op, const Adapters& adapters, const AdapterPairs& pairs, AdapterPart part) {
  const bool is_down = part == AdapterPart::Down;
  const TensorSplit cut = is_down ? TensorSplit::Columns : TensorSplit::Rows;
  Operator adapter{OperatorKind::Linear, op.name + (is_down ? "_a" : "_b"), is_down ? op.inputs : adapters.rank,
                   is_down ? pairs.pairs * adapters.rank : pairs.outputs};
  adapter.split = op.split == cut ? cut : TensorSplit::None;
  adapter.gathered = adapter.split == TensorSplit::None;
  adapter.bias = false;
  adapter.unscaled = true;
  adapter.modules = op.modules;
  adapter.adapter = part;
  return adapter;
}

// Of what A's read, a copy for each: as wide, and cut, as the product's input.
Operator dropout_of(const Operator& down, const Operator& op, const AdapterPairs& pairs) {
  const std::int64_t width = op.inputs * pairs.pairs;
  Operator dropout{OperatorKind::Dropout, op.name + "_dropout", width, width,
                   down.split == TensorSplit::None ? TensorSplit::None : TensorSplit::Rows};
  dropout.gathered = down.gathered;
  dropout.modules = op.modules;
  dropout.adapter = AdapterPart::Dropout;
  return dropout;
}

}  // namespace

std::size_t SegmentBuilder::add(std::int32_t part, Operator op) {
  op.frozen = config_ != nullptr && config_->adapters.has_value();
  const AdapterPairs pairs = op.frozen && op.kind == OperatorKind::Linear ? adapter_pairs(*config_, op) : AdapterPairs{};
  if (pairs.pairs == 0) return append(part, std::move(op));
  const Operator down = adapter_of(op, *config_->adapters, pairs, AdapterPart::Down),
                 up = adapter_of(op, *config_->adapters, pairs, AdapterPart::Up);
  const std::size_t at = append(part, std::move(op));
  if (config_->adapters->dropout > 0) append(part, dropout_of(down, graph_.operators[at], pairs));
  append(part, down);
  append(part, up);
  return at;
}

std::size_t SegmentBuilder::append(std::int32_t part, Operator op) {
  const std::size_t at = graph_.operators.size();
  if (at > 0) edges_.emplace_back(at - 1, at);
  op.part = part;
  if (op.tokens == Tokens::All) op.tokens = tokens_;
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
