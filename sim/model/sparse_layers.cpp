#include "sim/model/sparse_layers.h"

#include "sim/model/block_parts.h"

namespace sim {
namespace {

// Programs that recompute attention's core by name recompute its indexer with it (DSAttention of Megatron-Core holds it).
Operator of_indexer(Operator op) { return within(gathered(std::move(op)), Module::CoreAttention); }

Operator product(const char* name, std::int64_t inputs, std::int64_t outputs) {
  Operator op = of_indexer({OperatorKind::Linear, name, inputs, outputs, TensorSplit::None, false});
  op.detached = true;
  return op;
}

Operator key_norm(const Indexer& indexer) { return of_indexer(same_width(OperatorKind::Norm, "index_k_norm", indexer.width)); }

}  // namespace

std::vector<Operator> index_products(const ModelConfig& config) {
  const Indexer& indexer = config.attention.indexer;
  return {product("index_q", config.attention.q_lora, indexer.queries()), product("index_k", config.hidden, indexer.width),
          key_norm(indexer), unscaled(product("index_weights", config.hidden, indexer.heads))};
}

Operator index_rotary(const ModelConfig& config) {
  return of_indexer(same_width(OperatorKind::Rotary, "index_rotary", (config.attention.indexer.heads + 2) * rotary_width(config)));
}

Operator index_scores(const ModelConfig& config) {
  const Indexer& indexer = config.attention.indexer;
  Operator op = gathered({OperatorKind::Indexer, "indexer", indexer.made(), indexer.topk, TensorSplit::None, false});
  op.modules = Module::CoreAttention;
  return op;
}

// The norm is one of layers, with a bias, whatever the network's are.
void add_index_parameters(ParameterList& parameters, const ModelConfig& config) {
  for (const Operator& op : index_products(config)) {
    if (op.kind == OperatorKind::Linear)
      parameters.add_linear("attention." + op.name, op, {op.outputs}, config.initializer_range);
    else
      parameters.add_layer_norm("attention." + op.name, op);
  }
}

}  // namespace sim
