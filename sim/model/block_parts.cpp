#include "sim/model/block_parts.h"

namespace sim {

Operator same_width(OperatorKind kind, const char* name, std::int64_t width) {
  return {kind, name, width, width, TensorSplit::None, false};
}

Operator split_width(OperatorKind kind, const char* name, std::int64_t width) {
  return {kind, name, width, width, TensorSplit::Rows, false};
}

Operator gathered(Operator op) {
  op.gathered = true;
  return op;
}

Operator routes(Operator op) {
  op.gathered = op.routes = true;
  return op;
}

Operator unscaled(Operator op) {
  op.unscaled = true;
  return op;
}

Operator within(Operator op, Modules modules) {
  op.modules = modules | Module::Op;
  return op;
}

bool has_norm_before(const ModelConfig& config) { return config.norm_place == NormPlace::Before || config.norm_place == NormPlace::Around; }
bool has_norm_behind(const ModelConfig& config) { return config.norm_place != NormPlace::Before; }
bool has_own_norm(const ModelConfig& config) { return has_norm_before(config) && !(config.parallel_blocks && config.shared_norm); }

Meets over_tensor(Meeting meeting, std::int64_t width, bool of_experts_alone) {
  return {.axis = SplitAxis::Tensor, .meeting = meeting, .width = width, .of_experts_alone = of_experts_alone};
}

std::optional<std::size_t> add_norm(SegmentBuilder& segment, const ModelConfig& config, bool has_norm) {
  if (!has_norm) return std::nullopt;
  return segment.add(kNorm, within(same_width(OperatorKind::Norm, "norm", config.hidden), Module::LayerNorm));
}

void add_tail(SegmentBuilder& segment, const ModelConfig& config, Operation name, bool of_experts_alone, bool ends) {
  segment.then(over_tensor(Meeting::Leave, config.hidden, of_experts_alone),
               {.name = name, .is_side = true, .feeds_backward = has_norm_behind(config) || config.layer_scale || ends});
}

void add_residual(SegmentBuilder& segment, const ModelConfig& config, std::int32_t tail, std::optional<std::size_t> norm, bool ends) {
  const Operator behind = same_width(OperatorKind::Norm, "norm_behind", config.hidden);
  if (has_norm_behind(config) && config.norm_place != NormPlace::AfterSum) segment.add(tail, behind);
  if (config.layer_scale) segment.add(tail, same_width(OperatorKind::Activation, "layer_scale", config.hidden));
  if (config.residual_dropout > 0) segment.add(tail, same_width(OperatorKind::Dropout, "dropout", config.hidden));
  const std::size_t sum = segment.add(kNorm, same_width(OperatorKind::Residual, "residual", config.hidden));
  if (norm) segment.connect({*norm, sum});
  if (config.norm_place == NormPlace::AfterSum || ends) segment.add(tail, behind);
}

}  // namespace sim
