#include "sim/model/model_layers.h"

#include <boost/graph/topological_sort.hpp>
#include <cmath>
#include <utility>

namespace sim {
namespace {

struct Widths {  // of the query, and of keys and values each
  std::int64_t query, key_value;
  std::int64_t all() const { return query + 2 * key_value; }
};
Widths widths(const ModelConfig& config) { return {config.heads * config.head_dim, config.kv_heads * config.head_dim}; }

// Operators in the order in which they run, each an edge after the one before it; further edges are named.
class SegmentBuilder {
 public:
  explicit SegmentBuilder(Segment segment) { graph_.segment = segment; }

  std::size_t add(Operator op) {
    const std::size_t at = graph_.operators.size();
    if (at > 0) edges_.emplace_back(at - 1, at);
    graph_.operators.push_back(std::move(op));
    return at;
  }
  void connect(std::size_t from, std::size_t to) { edges_.emplace_back(from, to); }

  SegmentGraph finish() && {
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

 private:
  SegmentGraph graph_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
};

class ParameterList {
 public:
  ParameterList(const ModelConfig& config, std::string prefix) : config_(config), prefix_(std::move(prefix)) {}

  void add_norm(const std::string& name) {
    add_vector(name + ".weight", {config_.hidden}, TensorSplit::None, InitialValue::Ones);
    if (config_.norm == Norm::LayerNorm) add_vector(name + ".bias", {config_.hidden}, TensorSplit::None, InitialValue::Zeros);
  }
  // A linear layer; its bias is split only where its outputs are, because it is added after the sum over T otherwise.
  void add_linear(const std::string& name, const Operator& op, std::vector<std::int64_t> row_blocks, double deviation) {
    add_matrix(name + ".weight", row_blocks, op, deviation);
    const TensorSplit split = op.split == TensorSplit::Rows ? TensorSplit::Rows : TensorSplit::None;
    if (op.bias) add_vector(name + ".bias", std::move(row_blocks), split, InitialValue::Zeros);
  }
  void add_matrix(const std::string& name, std::vector<std::int64_t> row_blocks, const Operator& op, double deviation) {
    const std::int64_t rows = sum(row_blocks);
    list_.push_back({prefix_ + name, rows, op.inputs, op.split, std::move(row_blocks), InitialValue::Normal, deviation, true});
  }
  std::vector<Parameter> finish() && { return std::move(list_); }

 private:
  static std::int64_t sum(const std::vector<std::int64_t>& blocks) {
    std::int64_t total = 0;
    for (const std::int64_t block : blocks) total += block;
    return total;
  }
  void add_vector(const std::string& name, std::vector<std::int64_t> row_blocks, TensorSplit split, InitialValue initial) {
    const std::int64_t rows = sum(row_blocks);
    list_.push_back({prefix_ + name, rows, 1, split, std::move(row_blocks), initial, 0.0, false});
  }

  const ModelConfig& config_;
  std::string prefix_;
  std::vector<Parameter> list_;
};

Operator same_width(OperatorKind kind, const char* name, std::int64_t width) { return {kind, name, width, width, TensorSplit::None, false}; }

Operator qkv_of(const ModelConfig& config) {
  return {OperatorKind::Linear, "qkv", config.hidden, widths(config).all(), TensorSplit::Rows, config.attention_bias};
}
Operator projection_of(const ModelConfig& config) {
  return {OperatorKind::Linear, "projection", widths(config).query, config.hidden, TensorSplit::Columns, config.projection_bias};
}
Operator up_of(const ModelConfig& config) {
  return {OperatorKind::Linear, "up", config.hidden, (config.gated_mlp ? 2 : 1) * config.ffn, TensorSplit::Rows, config.mlp_bias};
}
Operator down_of(const ModelConfig& config) {
  return {OperatorKind::Linear, "down", config.ffn, config.hidden, TensorSplit::Columns, config.mlp_bias};
}
Operator head_of(const ModelConfig& config, std::int64_t padded_vocabulary) {
  return {OperatorKind::Linear, "projection", config.hidden, padded_vocabulary, TensorSplit::Rows, false};
}

// Behind a block's last linear: dropout, and the sum with what the norm in front had read.
void add_residual(SegmentBuilder& segment, const ModelConfig& config, std::size_t norm) {
  if (config.residual_dropout > 0) segment.add(same_width(OperatorKind::Dropout, "dropout", config.hidden));
  segment.connect(norm, segment.add(same_width(OperatorKind::Residual, "residual", config.hidden)));
}

SegmentGraph attention_segment(const ModelConfig& config) {
  const auto [query, key_value] = widths(config);
  SegmentBuilder segment(Segment::Attention);
  const std::size_t norm = segment.add(same_width(OperatorKind::Norm, "norm", config.hidden));
  const std::size_t qkv = segment.add(qkv_of(config));
  const bool is_rotary = config.position == Position::Rotary;
  if (is_rotary) segment.add({OperatorKind::Rotary, "rotary", query + key_value, query + key_value, TensorSplit::Rows, false});
  const std::size_t attention =
      segment.add({OperatorKind::Attention, "attention", query + 2 * key_value, query, TensorSplit::Rows, false});
  if (is_rotary) segment.connect(qkv, attention);  // the values are not turned
  segment.add(projection_of(config));
  add_residual(segment, config, norm);
  return std::move(segment).finish();
}

SegmentGraph mlp_segment(const ModelConfig& config) {
  SegmentBuilder segment(Segment::Mlp);
  const std::size_t norm = segment.add(same_width(OperatorKind::Norm, "norm", config.hidden));
  segment.add(up_of(config));
  segment.add({OperatorKind::Activation, "activation", up_of(config).outputs, config.ffn, TensorSplit::Rows, false});
  segment.add(down_of(config));
  add_residual(segment, config, norm);
  return std::move(segment).finish();
}

}  // namespace

Layer embedding_layer(const ModelConfig& config, std::int64_t padded_vocabulary) {
  SegmentBuilder segment(Segment::Embedding);
  ParameterList parameters(config, "embedding.");
  const Operator tokens{OperatorKind::EmbeddingLookup, "tokens", padded_vocabulary, config.hidden, TensorSplit::Rows, false};
  segment.add(tokens);
  const Operator table{OperatorKind::EmbeddingLookup, "table", config.hidden, config.hidden, TensorSplit::Rows, false};
  parameters.add_matrix("tokens.weight", {padded_vocabulary}, table, config.initializer_range);
  if (config.position == Position::Learned) {
    segment.add({OperatorKind::EmbeddingLookup, "positions", config.max_positions, config.hidden, TensorSplit::None, false});
    const Operator whole_table{OperatorKind::EmbeddingLookup, "table", config.hidden, config.hidden, TensorSplit::None, false};
    parameters.add_matrix("positions.weight", {config.max_positions}, whole_table, config.initializer_range);
  }
  if (config.embedding_dropout > 0) segment.add(same_width(OperatorKind::Dropout, "dropout", config.hidden));
  Layer layer;
  layer.segments.push_back(std::move(segment).finish());
  layer.parameters = std::move(parameters).finish();
  return layer;
}

Layer block_layer(const ModelConfig& config, const std::string& prefix) {
  const auto [query, key_value] = widths(config);
  // GPT-2 keeps the residual stream's variance from growing with depth; Llama starts all matrices alike.
  const bool scales_by_depth = config.norm == Norm::LayerNorm;
  const double into_residual = config.initializer_range / (scales_by_depth ? std::sqrt(2.0 * static_cast<double>(config.layers)) : 1.0);
  ParameterList parameters(config, prefix + ".");
  parameters.add_norm("attention.norm");
  parameters.add_linear("attention.qkv", qkv_of(config), {query, key_value, key_value}, config.initializer_range);
  parameters.add_linear("attention.projection", projection_of(config), {config.hidden}, into_residual);
  parameters.add_norm("mlp.norm");
  const std::vector<std::int64_t> up_blocks(config.gated_mlp ? 2 : 1, config.ffn);
  parameters.add_linear("mlp.up", up_of(config), up_blocks, config.initializer_range);
  parameters.add_linear("mlp.down", down_of(config), {config.hidden}, into_residual);
  Layer layer;
  layer.segments = {attention_segment(config), mlp_segment(config)};
  layer.parameters = std::move(parameters).finish();
  return layer;
}

Layer head_layer(const ModelConfig& config, std::int64_t padded_vocabulary) {
  SegmentBuilder segment(Segment::Head);
  segment.add(same_width(OperatorKind::Norm, "norm", config.hidden));
  segment.add(head_of(config, padded_vocabulary));
  segment.add({OperatorKind::CrossEntropy, "cross_entropy", padded_vocabulary, 1, TensorSplit::Rows, false});
  ParameterList parameters(config, "head.");
  parameters.add_norm("norm");
  if (!config.tied_embeddings) parameters.add_matrix("weight", {padded_vocabulary}, head_of(config, padded_vocabulary), config.initializer_range);
  Layer layer;
  layer.segments.push_back(std::move(segment).finish());
  layer.parameters = std::move(parameters).finish();
  return layer;
}

}  // namespace sim
