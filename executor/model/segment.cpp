#include "executor/model/segment.h"

#include <utility>

#include "executor/model/activation.h"
#include "executor/model/attention.h"
#include "executor/model/linear.h"
#include "executor/model/norm.h"

namespace executor {
namespace {

SegmentLeaves segment_leaves(const LayerParts& layer, const std::string& segment, const std::string& in, const std::string& out) {
  const auto leaf = [&](const std::string& name) { return find_leaf(layer, "." + segment + "." + name); };
  return {.norm_scale = leaf("norm.weight"),
          .norm_shift = leaf("norm.bias"),
          .in_weight = leaf(in + ".weight"),
          .in_bias = leaf(in + ".bias"),
          .out_weight = leaf(out + ".weight"),
          .out_bias = leaf(out + ".bias")};
}

}  // namespace

BlockSegment::BlockSegment(const sim::ModelConfig& config, SegmentLeaves leaves, Middle middle)
    : norm_(config.norm), epsilon_(config.norm_epsilon), leaves_(std::move(leaves)), middle_(std::move(middle)) {}

at::Tensor BlockSegment::norm(const at::Tensor& input) const {
  return executor::norm(input, norm_, epsilon_, leaves_.norm_scale, leaves_.norm_shift);
}

at::Tensor BlockSegment::into_middle(const at::Tensor& normalized, const Dropout& scores) const {
  return middle_(linear(normalized, leaves_.in_weight, leaves_.in_bias), scores);
}

at::Tensor BlockSegment::core(const at::Tensor& normalized, const Dropout& scores) const {
  return linear(into_middle(normalized, scores), leaves_.out_weight);
}

at::Tensor BlockSegment::whole(const at::Tensor& input, const Dropout& scores) const {
  return linear(into_middle(norm(input), scores), leaves_.out_weight, leaves_.out_bias);
}

Leaf find_leaf(const LayerParts& layer, std::string_view suffix) {
  for (std::size_t at = 0; at < layer.parameters.size(); ++at)
    if (layer.parameters[at].name.ends_with(suffix)) return layer.leaves[at];
  return {};
}

BlockSegment make_attention(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings) {
  const HeadShape shape{.heads = config.heads / settings.tensor.degree,
                        .kv_heads = config.kv_heads / settings.tensor.degree,
                        .head_dim = config.head_dim,
                        .sequence = settings.sequence};
  const AttentionMasks masks{
      .heads = config.heads, .first_head = settings.tensor.rank * shape.heads, .keeps_scores = settings.keeps_scores};
  return BlockSegment(config, segment_leaves(layer, "attention", "qkv", "projection"),
                      [shape, masks, rotary = settings.rotary](const at::Tensor& joint, const Dropout& scores) {
                        return causal_attention(split_heads(joint, shape, rotary), masks, scores);
                      });
}

BlockSegment make_mlp(const sim::ModelConfig& config, const LayerParts& layer) {
  return BlockSegment(config, segment_leaves(layer, "mlp", "up", "down"),
                      [kind = config.activation, gated = config.gated_mlp](const at::Tensor& up, const Dropout&) {
                        return gated ? gated_activation(up, kind) : activation(up, kind);
                      });
}

}  // namespace executor
