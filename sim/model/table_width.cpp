#include "sim/model/table_width.h"

#include "sim/model/block_parts.h"

namespace sim {

std::int64_t table_width(const ModelConfig& config) { return config.embedding_width > 0 ? config.embedding_width : config.hidden; }
// Of all that stands beside the token table.
std::int64_t width_at_table(const ModelConfig& config) { return config.narrow_tables ? table_width(config) : config.hidden; }

// The head of masked language modelling in front of the projection (Devlin et al. 2018).
Operator transform_of(const ModelConfig& config) {
  return gathered({OperatorKind::Linear, "transform", config.hidden, width_at_table(config), TensorSplit::None, config.transform_bias});
}
// Beside a narrow table: a norm of its width.
void add_norm_at_table(ParameterList& parameters, const ModelConfig& config, const char* name, const Operator& op) {
  if (config.narrow_tables) return parameters.add_layer_norm(name, op);
  if (op.gathered) return parameters.add_shared_norm(name);
  parameters.add_norm(name);
}
// From the width of the token table to that of the blocks, and back.
Operator widening(const ModelConfig& config) {
  Operator op{OperatorKind::Linear, "widening", config.embedding_width, config.hidden, TensorSplit::None, config.narrow_tables};
  return config.narrow_tables ? op : gathered(op);
}
Operator narrowing(const ModelConfig& config) {
  return gathered({OperatorKind::Linear, "narrowing", config.hidden, config.embedding_width, TensorSplit::None, false});
}

}  // namespace sim
