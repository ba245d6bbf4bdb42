#include "sim/model/linear_layers.h"

#include <optional>

#include "sim/model/block_parts.h"

namespace sim {
namespace {

constexpr std::int32_t kScan = kCore + 1, kOutput = kCore + 2;

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

// Selective: of all channels narrow steps, B and C; of narrow steps those of each channel.
Operator scan_in(const LinearForm& form) {
  return {OperatorKind::Linear, "scan_in", form.values(), form.scan_inputs(), TensorSplit::Columns};
}
Operator step_of(const LinearForm& form) { return {OperatorKind::Linear, "step", form.step_rank, form.values(), TensorSplit::Rows, true}; }

Operator scanned(Operator op) {
  op.of_scan = true;
  return within(std::move(op));
}

Operator convolution_of(const LinearForm& form) {
  Operator op = split_width(OperatorKind::CausalConvolution, "convolution", form.convolved());
  if (form.is_of_channels()) return scanned(op);
  op.keys = 2 * form.keys();
  op.heads = {.queries = form.heads, .keys = form.groups};
  return scanned(op);
}

Operator gate_of(const char* name, const LinearForm& form) {
  return scanned({OperatorKind::Activation, name, 2 * form.values(), form.values(), TensorSplit::Rows});
}

// All that was projected goes to the ranks of its heads (Megatron-Core, MambaContextParallel and GatedDeltaNet of 0.17), and the scan's gated output back.
Meets over_scan(Meeting meeting, const LinearForm& form) {
  const std::int64_t narrow = form.narrow() > 0 ? form.keys() + form.values() : 0, shared = form.is_of_channels() ? 0 : 2 * form.keys();
  const bool enters = meeting == Meeting::Enter;
  return {.axis = SplitAxis::Scan,
          .meeting = meeting,
          .width = enters ? form.projected() + narrow - shared : form.values(),
          .block = enters ? shared : 0,
          .heads = {.queries = form.heads, .keys = form.groups}};
}

// in: the first product.
void add_scan(SegmentBuilder& segment, const ModelConfig& config, std::size_t in) {
  const LinearForm& form = *config.linear;
  for (const Operator& op : narrow_products(form, config.hidden)) segment.add(kCore, within(op));
  segment.add(kScan, convolution_of(form));
  const std::int64_t read = form.projected() - (form.narrow() > 0 ? 0 : form.values()) + (form.narrow() > 0 ? form.keys() : 0);
  segment.add(kScan, scanned({OperatorKind::Scan, "scan", read, form.values(), TensorSplit::Rows}));
  segment.connect({in, segment.add(kScan, gate_of("gated_norm", form))});
}

// The scan's kernel gates what it puts out.
void add_selective_scan(SegmentBuilder& segment, const ModelConfig& config, std::size_t in) {
  const LinearForm& form = *config.linear;
  const std::size_t convolved = segment.add(kScan, convolution_of(form));
  segment.add(kScan, within(scan_in(form)));
  if (form.scan_norms != ScanNorms::None) segment.add(kScan, within(same_width(OperatorKind::Norm, "scan_norms", form.scan_inputs())));
  segment.add(kScan, within(step_of(form)));
  const Operator scan{OperatorKind::Scan, "scan", 3 * form.values() + 2 * form.key, form.values(), TensorSplit::Rows};
  const std::size_t at_scan = segment.add(kScan, scanned(scan));
  segment.connect({in, at_scan});
  segment.connect({convolved, at_scan});
}

void add_gated_convolution(SegmentBuilder& segment, const ModelConfig& config, std::size_t in) {
  segment.add(kScan, gate_of("gate_before", *config.linear));
  segment.add(kScan, convolution_of(*config.linear));
  segment.connect({in, segment.add(kScan, gate_of("gate_behind", *config.linear))});
}

void add_selective_parameters(ParameterList& parameters, const ModelConfig& config) {
  const LinearForm& form = *config.linear;
  parameters.add_linear("linear.scan_in", scan_in(form), {form.step_rank, form.key, form.key}, config.initializer_range);
  parameters.add_linear("linear.step", step_of(form), {form.values()}, config.initializer_range);
  const std::pair<const char*, std::int64_t> kNormed[] = {
      {"linear.step_norm", form.step_rank}, {"linear.b_norm", form.key}, {"linear.c_norm", form.key}};
  for (const auto& [name, width] : kNormed)
    if (form.scan_norms == ScanNorms::Weighted) parameters.add_inner_norm(name, same_width(OperatorKind::Norm, name, width));
  parameters.add_channels("linear.decay", {form.values()}, form.key, false, config.initializer_range);
  parameters.add_per_head("linear.skip", form.heads);
}

void add_scan_parameters(ParameterList& parameters, const ModelConfig& config) {
  const LinearForm& form = *config.linear;
  const bool is_delta = form.is_delta();
  for (const Operator& op : narrow_products(form, config.hidden))
    parameters.add_linear("linear." + op.name, op, {op.outputs}, config.initializer_range);
  parameters.add_per_head("linear.step_bias", form.narrow() > 0 ? form.keys() : form.heads);
  parameters.add_per_head("linear.decay", form.heads);
  if (!is_delta) parameters.add_per_head("linear.skip", form.heads);
  // Gated delta: one norm for every head, of which each tensor rank has some.
  if (form.gate_norm) parameters.add_gate_norm("linear.gate_norm", is_delta ? form.value : form.values(), !is_delta);
}

std::vector<std::int64_t> convolved_blocks(const LinearForm& form) {
  if (form.is_of_channels()) return {form.values()};
  if (form.is_delta()) return {form.keys(), form.keys(), form.values()};
  return {form.values(), form.keys(), form.keys()};
}

bool has_norm_of_its_own(const ModelConfig& config) { return has_norm_before(config) && !config.linear->beside; }

}  // namespace

// Tensor ranks have whole heads: they meet around the two products alone. Context ranks meet around the scan.
SegmentGraph linear_segment(const ModelConfig& config) {
  SegmentBuilder segment(Operation::LinearAttention, {.name = Operation::LinearAttentionNorm, .is_side = true}, &config);
  segment.then(over_tensor(Meeting::Enter, config.hidden), {.name = Operation::LinearAttentionInput});
  segment.then(over_scan(Meeting::Enter, *config.linear), {.name = Operation::LinearAttentionScan});
  segment.then(over_scan(Meeting::Leave, *config.linear), {.name = Operation::LinearAttentionOutput});
  add_tail(segment, config, Operation::LinearAttentionResidual);
  const std::optional<std::size_t> norm = add_norm(segment, config, has_norm_of_its_own(config));
  const std::size_t in = segment.add(kCore, within(linear_in(config)));
  switch (config.linear->rule) {
    case LinearRule::Selective: add_selective_scan(segment, config, in); break;
    case LinearRule::ShortConvolution: add_gated_convolution(segment, config, in); break;
    default: add_scan(segment, config, in);
  }
  segment.add(kOutput, within(linear_out(config)));
  add_residual(segment, config, kOutput + 1, norm);
  return std::move(segment).finish();
}

void add_linear_parameters(ParameterList& parameters, const ModelConfig& config, double into_residual) {
  const LinearForm& form = *config.linear;
  if (has_norm_of_its_own(config)) parameters.add_norm("linear.norm");
  parameters.add_linear("linear.in", linear_in(config), form.row_blocks(), config.initializer_range);
  parameters.add_channels("linear.convolution", convolved_blocks(form), form.convolution, form.convolution_bias, config.initializer_range);
  if (form.rule == LinearRule::Selective) add_selective_parameters(parameters, config);
  if (!form.is_of_channels()) add_scan_parameters(parameters, config);
  parameters.add_linear("linear.out", linear_out(config), {config.hidden}, into_residual);
  if (has_norm_behind(config)) parameters.add_norm("linear.norm_behind");
}

}  // namespace sim
