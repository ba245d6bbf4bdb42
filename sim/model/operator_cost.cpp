// Work and traffic of one operator; the conventions stand in model_graph.h.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/model/model_graph.h"

namespace sim {
namespace {

constexpr std::int64_t kTokenIdBytes = 8;

// What one tensor rank sees: its tokens and its part of the widths.
struct LocalWork {
  std::int64_t tokens, inputs, outputs;  // tokens: rows, where a token has several
  std::int64_t weights = 1;              // products with weights of their own
};

LocalWork local_part(const Operator& op, const ModelConfig& config, const ShardShape& whole) {
  const ShardShape shape = of_tokens(op.tokens, config, op.of_scan ? by_heads(whole) : whole);
  const std::int64_t t = shape.tensor;
  if (op.kind == OperatorKind::EmbeddingLookup || op.split == TensorSplit::None) {
    const bool has_part_of_tokens = op.split == TensorSplit::None && shape.sequence_parallel && !op.gathered;
    return {has_part_of_tokens ? shape.tokens() / t : shape.tokens(), op.inputs, op.outputs};
  }
  if (op.kind == OperatorKind::Linear && op.split == TensorSplit::Rows) return {shape.tokens(), op.inputs, op.outputs / t};
  if (op.kind == OperatorKind::Linear) return {shape.tokens(), op.inputs / t, op.outputs};
  const std::int64_t inputs = inputs_of_rank(op, t);  // inside the parallel region: whole heads, whole features
  return {shape.tokens(), inputs, op.outputs == op.inputs ? inputs : op.outputs / t};
}

// Experts in even use: a rank computes as many rows as it has tokens for them, whichever experts it holds.
LocalWork local_work(const Operator& op, const ModelConfig& config, const ShardShape& shape) {
  LocalWork work = local_part(op, config, shape);
  work.tokens *= op.copies;
  work.weights = std::max<std::int64_t>(1, op.experts / shape.expert);
  return work;
}

std::int64_t norm_vectors(const ModelConfig& config) { return (config.norm_weight ? 1 : 0) + (has_norm_bias(config) ? 1 : 0); }

// Rows of the position table that are read: one a position, whatever the number of samples.
std::int64_t position_rows(const LocalWork& work, const ShardShape& shape) { return work.tokens / shape.microbatch; }

struct Traffic {
  std::int64_t elements = 0;
  std::int64_t bytes = 0;  // of token ids
  Bytes total(Bytes element_size) const { return element_size * elements + Bytes(bytes); }
};

// Each number that it reads and writes, and weights, once.
Traffic map_traffic(const Operator& op, const ShardShape& shape) {
  const std::int64_t numbers = op.map.read * op.inputs + op.map.places * op.outputs;
  const std::int64_t weights = op.kind == OperatorKind::Convolution ? op.inputs / op.map.groups * op.map.area() * op.outputs : 0;
  return {shape.tokens() * numbers + weights};
}

// Keys and values may be of other tokens than queries.
std::int64_t read_by_attention(const Operator& op, const ModelConfig& config, const ShardShape& shape) {
  const LocalWork work = local_work(op, config, shape);
  if (op.keys_of == op.tokens) return work.tokens * work.inputs;
  const std::int64_t keys = op.keys / op.heads.key_parts(shape.tensor);
  return work.tokens * (work.inputs - keys) + of_tokens(op.keys_of, config, shape).tokens() * keys;
}

Traffic forward_traffic(const Operator& op, const ModelConfig& config, const ShardShape& shape) {
  if (op.map.places > 0) return map_traffic(op, shape);
  const LocalWork work = local_work(op, config, shape);
  const std::int64_t read = work.tokens * work.inputs, written = work.tokens * work.outputs;
  switch (op.kind) {
    case OperatorKind::EmbeddingLookup:
      if (op.split == TensorSplit::None) return {2 * written + position_rows(work, shape) * work.outputs};
      return {2 * written, work.tokens * kTokenIdBytes};
    case OperatorKind::Norm: return {read + norm_vectors(config) * work.inputs + written};
    case OperatorKind::Linear: return {read + work.weights * work.inputs * work.outputs + (op.bias ? work.outputs : 0) + written};
    case OperatorKind::Residual: return {2 * read + written};
    case OperatorKind::Routing: return {0, read * kRoutingBytes};
    case OperatorKind::Permutation: return {(kPermutationPasses * read + 1) / 2};
    case OperatorKind::CrossEntropy: return {read + work.tokens, work.tokens * kTokenIdBytes};
    case OperatorKind::Attention: return {read_by_attention(op, config, shape) + written};
    case OperatorKind::CausalConvolution:
    case OperatorKind::Rotary:
    case OperatorKind::Activation:
    case OperatorKind::Dropout: return {read + written};
    default: return {};
  }
  return {};
}

Traffic backward_traffic(const Operator& op, const ModelConfig& config, const ShardShape& shape) {
  if (op.map.places > 0) return {2 * map_traffic(op, shape).elements};
  const LocalWork work = local_work(op, config, shape);
  const std::int64_t input = work.tokens * work.inputs, output = work.tokens * work.outputs;
  switch (op.kind) {
    case OperatorKind::EmbeddingLookup:
      if (op.split == TensorSplit::None) return {output + 2 * position_rows(work, shape) * work.outputs};
      return {3 * output, work.tokens * kTokenIdBytes};
    case OperatorKind::Norm: return {output + 2 * input + (1 + norm_vectors(config)) * work.inputs};
    case OperatorKind::Linear:
      return {2 * output + 2 * input + 2 * work.weights * work.inputs * work.outputs + (op.bias ? output + work.outputs : 0)};
    case OperatorKind::Attention: return {2 * read_by_attention(op, config, shape) + 2 * output};
    case OperatorKind::CausalConvolution:
    case OperatorKind::Activation: return {output + 2 * input};
    case OperatorKind::Residual: return {3 * output};
    case OperatorKind::Routing: return {0, input * kRoutingBytes};
    case OperatorKind::Permutation: return {(kPermutationPasses * input + 1) / 2};
    case OperatorKind::CrossEntropy: return {2 * input, work.tokens * kTokenIdBytes};
    case OperatorKind::Rotary:
    case OperatorKind::Dropout: return {output + input};
    default: return {};
  }
  return {};
}

Scan scan_of(const ModelConfig& config, const ShardShape& whole) {
  const ShardShape shape = by_heads(whole);
  return scan_of(*config.linear, {.tokens = shape.tokens(), .sample = shape.sequence, .ranks = shape.tensor});
}

SparseAttention sparse_of(const ModelConfig& config, const ShardShape& shape) {
  return {.samples = shape.microbatch,
          .heads = config.heads / shape.tensor,
          .sequence = shape.sequence,
          .key = config.attention.shared_key(),
          .value = config.attention.kv_lora,
          .topk = config.attention.indexer.topk};
}

IndexScores scores_of(const ModelConfig& config, const ShardShape& shape) {
  const Indexer& indexer = config.attention.indexer;
  return {shape.microbatch, indexer.heads, shape.sequence, indexer.width, indexer.topk};
}

bool is_sparse(const Operator& op, const ModelConfig& config) { return op.kind == OperatorKind::Attention && config.attention.is_sparse(); }

}  // namespace

std::int64_t inputs_of_rank(const Operator& op, std::int64_t ranks) {
  return (op.inputs - op.keys) / ranks + op.keys / op.heads.key_parts(ranks);
}

ShardShape by_heads(ShardShape shape) {
  shape.tensor *= std::exchange(shape.context, 1);
  return shape;
}

ShardShape of_tokens(Tokens which, const ModelConfig& config, ShardShape shape) {
  shape.sequence = tokens_in(which, config, shape.sequence);
  return shape;
}

double attention_pairs(double sequence, const Operator& op, const ModelConfig& config) {
  const auto count = [&](Tokens which) { return static_cast<double>(tokens_in(which, config, static_cast<std::int64_t>(sequence))); };
  const auto both_ways = [&](double queries) {
    const double side = std::floor(static_cast<double>(op.window - 1) / 2);
    return queries <= side ? queries * queries : queries * (2 * side + 1) - side * (side + 1);
  };
  if (op.tokens == Tokens::Source && op.window > 0) return both_ways(count(Tokens::Source));
  if (op.keys_of == Tokens::Source) return count(op.tokens) * count(Tokens::Source);
  const double queries = op.tokens == Tokens::All ? sequence : count(op.tokens);
  if (op.chunked) {
    const double length = static_cast<double>(op.window), pieces = std::floor(queries / length), rest = queries - pieces * length;
    return pieces * length * (length + 1) / 2 + rest * (rest + 1) / 2;
  }
  if (config.bidirectional && op.window > 0) return both_ways(queries);
  const double window = op.window > 0 ? std::min(queries, static_cast<double>(op.window)) : queries;
  return config.bidirectional ? queries * queries : queries * window - window * (window - 1) / 2;
}

Flops forward_flops(const Operator& op, const ModelConfig& config, const ShardShape& shape) {
  if (op.kind == OperatorKind::Convolution) {
    const std::int64_t products = op.inputs / op.map.groups * op.map.area();  // of an output
    return Flops(2.0 * static_cast<double>(shape.tokens() * op.map.places) * static_cast<double>(op.outputs) *
                 static_cast<double>(products));
  }
  if (op.kind == OperatorKind::Scan) return scan_flops(scan_of(config, shape));
  if (op.kind == OperatorKind::Indexer) return index_flops(scores_of(config, shape), false);
  if (is_sparse(op, config)) return sparse_flops(sparse_of(config, shape), false);
  const LocalWork work = local_work(op, config, shape);
  if (op.kind == OperatorKind::Linear)
    return Flops(2.0 * static_cast<double>(work.tokens) * static_cast<double>(work.inputs) * static_cast<double>(work.outputs));
  if (op.kind != OperatorKind::Attention) return Flops(0);
  // Scores and their product with the values: 2 * 2 * pairs * head_dim a head.
  const double samples = static_cast<double>(shape.microbatch), s = static_cast<double>(shape.sequence);
  return Flops(2.0 * samples * (2.0 * attention_pairs(s, op, config)) * static_cast<double>(work.outputs) /
               static_cast<double>(shape.context * shape.slices));  // of slices the mean
}

Flops backward_flops(const Operator& op, const ModelConfig& config, const ShardShape& shape) {
  if (op.kind == OperatorKind::Scan) return forward_flops(op, config, shape) * kScanBackwardFlops;
  if (op.kind == OperatorKind::Indexer) return op.frozen ? Flops(0) : index_flops(scores_of(config, shape), true);
  if (is_sparse(op, config)) return sparse_flops(sparse_of(config, shape), true);
  const double products = (op.frozen ? 1.0 : 2.0) - (op.detached ? 1.0 : 0.0);  // of a gradient of weights, and one of what was read
  return forward_flops(op, config, shape) * (op.kind == OperatorKind::Attention ? 2.5 : products);
}

Bytes forward_bytes(const Operator& op, const ModelConfig& config, const ShardShape& shape, Bytes element_size) {
  if (op.kind == OperatorKind::Scan) return scan_bytes(scan_of(config, shape), element_size);
  if (op.kind == OperatorKind::Indexer) return index_bytes(scores_of(config, shape), element_size, false);
  if (is_sparse(op, config)) return sparse_bytes(sparse_of(config, shape), element_size, false);
  return forward_traffic(op, config, shape).total(element_size);
}

Bytes backward_bytes(const Operator& op, const ModelConfig& config, const ShardShape& shape, Bytes element_size) {
  if (op.kind == OperatorKind::Scan) return scan_bytes(scan_of(config, shape), element_size) * kScanBackwardBytes;
  if (op.kind == OperatorKind::Indexer) return op.frozen ? Bytes(0) : index_bytes(scores_of(config, shape), element_size, true);
  if (is_sparse(op, config)) return sparse_bytes(sparse_of(config, shape), element_size, true);
  return backward_traffic(op, config, shape).total(element_size);
}

}  // namespace sim
