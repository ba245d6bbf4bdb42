#include "sim/model/layer_inputs.h"

#include "sim/model/block_parts.h"

namespace sim {
namespace {

std::vector<Operator> operators_of_input(const ModelConfig& config) {
  if (config.layer_inputs == 0) return {};
  const std::int64_t hidden = config.hidden, width = config.layer_inputs;
  return {{OperatorKind::Linear, "layer_gate", hidden, width, TensorSplit::None, false},
          {OperatorKind::Activation, "layer_activation", 2 * width, width, TensorSplit::None, false},
          {OperatorKind::Linear, "layer_projection", width, hidden, TensorSplit::None, false},
          same_width(OperatorKind::Norm, "layer_norm", hidden),
          same_width(OperatorKind::Residual, "layer_residual", hidden)};
}

}  // namespace

std::vector<Operator> inputs_of_layers(const ModelConfig& config) {
  if (config.layer_inputs == 0) return {};
  const std::int64_t width = config.layer_inputs * config.layers;
  return {unscaled({OperatorKind::Linear, "layer_inputs", config.hidden, width, TensorSplit::None, false}),
          same_width(OperatorKind::Norm, "layer_inputs_norm", width),
          {OperatorKind::EmbeddingLookup, "layer_tokens", config.layer_vocabulary, width, TensorSplit::None, false}};
}

void add_parameters_of_inputs(ParameterList& parameters, const ModelConfig& config) {
  if (config.layer_inputs == 0) return;
  const Operator product = inputs_of_layers(config).front();
  const std::int64_t width = product.outputs;
  const Operator table{OperatorKind::EmbeddingLookup, "table", width, width, TensorSplit::None, false};
  parameters.add_linear("layer_inputs", product, {width}, config.initializer_range);
  parameters.add_gate_norm("layer_inputs_norm", config.layer_inputs, false);
  parameters.add_matrix("layer_tokens.weight", {config.layer_vocabulary}, table, config.initializer_range);
}

void add_layer_input(SegmentBuilder& segment, const ModelConfig& config, std::int32_t tail) {
  for (const Operator& op : operators_of_input(config)) segment.add(tail, op);
}

void add_layer_input_parameters(ParameterList& parameters, const ModelConfig& config) {
  if (config.layer_inputs == 0) return;
  for (const Operator& op : operators_of_input(config))
    if (op.kind == OperatorKind::Linear) parameters.add_linear("mlp." + op.name, op, {op.outputs}, config.initializer_range);
  parameters.add_norm("mlp.layer_norm");
}

}  // namespace sim
