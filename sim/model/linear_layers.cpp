#include "sim/model/linear_layers.h"

#include <optional>

#include "sim/model/block_parts.h"

namespace sim {
namespace {

Operator linear_in(const ModelConfig& config) {
  return {OperatorKind::Linear, "linear_in", config.hidden, config.linear->projected(), TensorSplit::Rows, config.linear->biases};
}
Operator linear_out(const ModelConfig& config) {
  return {OperatorKind::Linear, "linear_out", config.linear->values(), config.hidden, TensorSplit::Columns, config.linear->biases};
}

// Of Kimi's layers: down to a narrow vector that every tensor rank computes, and up to its heads.
std::vector<Operator> narrow_products(const LinearForm& form, std::int64_t hidden) {
  if (form.narrow() == 0) return {};
  const auto down = [&](const char* name) { return gathered({OperatorKind::Linear, name, hidden, form.narrow(), TensorSplit::None}); };
  const auto up = [&](const char* name, std::int64_t outputs) {
    return Operator{OperatorKind::Linear, name, form.narrow(), outputs, TensorSplit::Rows};
  };
  return {down("decay_down"), up("decay_up", form.keys()), down("gate_down"), up("gate_up", form.values())};
}

}  // namespace

// Tensor ranks have whole heads: nothing meets between the two products.
SegmentGraph linear_segment(const ModelConfig& config) {
  const LinearForm& form = *config.linear;
  SegmentBuilder segment(Operation::LinearAttention, {.name = Operation::LinearAttentionNorm, .is_side = true}, &config);
  segment.then(over_tensor(Meeting::Enter, config.hidden), {.name = Operation::LinearAttention});
  add_tail(segment, config, Operation::LinearAttentionResidual);
  const std::optional<std::size_t> norm = add_norm(segment, config, has_norm_before(config));
  const std::size_t in = segment.add(kCore, within(linear_in(config)));
  for (const Operator& op : narrow_products(form, config.hidden)) segment.add(kCore, within(op));
  segment.add(kCore, within(split_width(OperatorKind::CausalConvolution, "convolution", form.convolved())));
  const std::int64_t read = form.projected() - (form.narrow() > 0 ? 0 : form.values()) + (form.narrow() > 0 ? form.keys() : 0);
  segment.add(kCore, within({OperatorKind::Scan, "scan", read, form.values(), TensorSplit::Rows}));
  const std::size_t gate =
      segment.add(kCore, within({OperatorKind::Activation, "gated_norm", 2 * form.values(), form.values(), TensorSplit::Rows}));
  segment.connect({in, gate});
  segment.add(kCore, within(linear_out(config)));
  add_residual(segment, config, kCore + 1, norm);
  return std::move(segment).finish();
}

void add_linear_parameters(ParameterList& parameters, const ModelConfig& config, double into_residual) {
  const LinearForm& form = *config.linear;
  const bool is_delta = form.is_delta();
  if (has_norm_before(config)) parameters.add_norm("linear.norm");
  parameters.add_linear("linear.in", linear_in(config), form.row_blocks(), config.initializer_range);
  const std::vector<std::int64_t> convolved =
      is_delta ? std::vector{form.keys(), form.keys(), form.values()} : std::vector{form.values(), form.keys(), form.keys()};
  parameters.add_channels("linear.convolution", convolved, form.convolution, form.convolution_bias, config.initializer_range);
  for (const Operator& op : narrow_products(form, config.hidden))
    parameters.add_linear("linear." + op.name, op, {op.outputs}, config.initializer_range);
  parameters.add_per_head("linear.step_bias", form.narrow() > 0 ? form.keys() : form.heads);
  parameters.add_per_head("linear.decay", form.heads);
  if (!is_delta) parameters.add_per_head("linear.skip", form.heads);
  // Gated delta: one norm for every head, of which each tensor rank has some.
  parameters.add_gate_norm("linear.gate_norm", is_delta ? form.value : form.values(), !is_delta);
  parameters.add_linear("linear.out", linear_out(config), {config.hidden}, into_residual);
  if (has_norm_behind(config)) parameters.add_norm("linear.norm_behind");
}

}  // namespace sim
