#include "sim/model/token_prediction.h"

#include <fmt/format.h>

#include <utility>

#include "sim/model/model_layers.h"
#include "sim/model/segment_builder.h"

namespace sim {
namespace {

constexpr std::int32_t kJoinedNorm = 0, kJoinedCore = 1;

Operator joining(const ModelConfig& config) {
  return {OperatorKind::Linear, "joining", 2 * config.hidden, config.hidden, TensorSplit::Rows, false};
}

SegmentGraph joining_segment(const ModelConfig& config, std::int64_t padded_vocabulary) {
  const std::int64_t hidden = config.hidden;
  SegmentBuilder segment(Operation::Mtp, {.name = Operation::MtpNorm, .is_side = true});
  segment.then({.axis = SplitAxis::Tensor, .meeting = Meeting::Enter, .width = 2 * hidden}, {.name = Operation::Mtp});
  segment.then({.axis = SplitAxis::Tensor, .meeting = Meeting::Leave, .width = hidden},
               {.name = Operation::MtpOutput, .is_side = true, .feeds_backward = false});
  segment.add(kJoinedCore, {OperatorKind::EmbeddingLookup, "tokens", padded_vocabulary, hidden, TensorSplit::Rows, false});
  for (const char* name : {"norm", "token_norm"})
    segment.add(kJoinedNorm, {OperatorKind::Norm, name, hidden, hidden, TensorSplit::None, false});
  segment.add(kJoinedCore, joining(config));
  return std::move(segment).finish();
}

void add_norm(Layer& layer, const ModelConfig& config, const std::string& name) {
  if (!config.norm_weight) return;
  layer.parameters.push_back({.name = name + ".weight",
                              .rows = config.hidden,
                              .row_blocks = {config.hidden},
                              .initial = config.offset_norm ? InitialValue::Zeros : InitialValue::Ones,
                              .weight_decay = false});
  if (has_norm_bias(config))
    layer.parameters.push_back({.name = name + ".bias",
                                .rows = config.hidden,
                                .row_blocks = {config.hidden},
                                .initial = InitialValue::Zeros,
                                .weight_decay = false});
}

}  // namespace

Layer prediction_layer(const ModelConfig& config, std::int64_t padded_vocabulary) {
  Layer all;
  for (std::int64_t at = 0; at < config.mtp_layers; ++at) {
    const std::string prefix = fmt::format("mtp.{}", at);
    Layer block = block_layer(in_block(config, config.layers - 1), prefix, block_form(config, config.layers - 1));
    all.segments.push_back(joining_segment(config, padded_vocabulary));
    for (SegmentGraph& segment : block.segments) all.segments.push_back(std::move(segment));
    for (const char* norm : {".norm", ".token_norm"}) add_norm(all, config, prefix + norm);
    all.parameters.push_back({.name = prefix + ".joining.weight",
                              .rows = config.hidden,
                              .columns = 2 * config.hidden,
                              .split = TensorSplit::Rows,
                              .row_blocks = {config.hidden},
                              .deviation = config.initializer_range});
    for (Parameter& parameter : block.parameters) all.parameters.push_back(std::move(parameter));
    add_norm(all, config, prefix + ".final_norm");
  }
  return all;
}

Layer joined(Layer predictions, Layer head) {
  for (SegmentGraph& segment : head.segments) predictions.segments.push_back(std::move(segment));
  for (Parameter& parameter : head.parameters) predictions.parameters.push_back(std::move(parameter));
  return predictions;
}

}  // namespace sim
