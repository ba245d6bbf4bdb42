#include "executor/model/segment.h"

#include <utility>

#include "executor/model/activation.h"
#include "executor/model/attention.h"
#include "executor/model/latent_attention.h"
#include "executor/model/linear.h"

namespace executor {
namespace {

// The segment's parameters by their names behind "layer."; `in` and `out` are its products.
struct SegmentNames {
  std::string segment, in, out;
  std::string of(const std::string& parameter) const { return "." + segment + "." + parameter; }
};

NormLayer norm_layer(const sim::ModelConfig& config, const LayerParts& layer, const SegmentNames& names) {
  return {.kind = config.norm,
          .epsilon = config.norm_epsilon,
          .scale = find_leaf(layer, names.of("norm.weight")),
          .shift = find_leaf(layer, names.of("norm.bias"))};
}

SegmentLeaves segment_leaves(const LayerParts& layer, const SegmentNames& names, TensorPosition tensor) {
  const auto leaf = [&](const std::string& name) { return find_leaf(layer, names.of(name)); };
  const Leaf bias = leaf(names.out + ".bias");
  return {.in_weight = leaf(names.in + ".weight"),
          .in_bias = leaf(names.in + ".bias"),
          .out_weight = leaf(names.out + ".weight"),
          .out_bias = tensor.degree == 1 ? bias : Leaf{},
          .late_bias = tensor.degree == 1 ? Leaf{} : bias};
}

}  // namespace

BlockSegment::BlockSegment(NormLayer norm, SegmentLeaves leaves, Middle middle, Joint joint)
    : norm_(std::move(norm)), leaves_(std::move(leaves)), middle_(std::move(middle)), joint_(std::move(joint)) {}

at::Tensor BlockSegment::core(const at::Tensor& normalized, const Dropout& scores) const {
  return out_product(middle_(in_product(normalized), scores));
}

at::Tensor BlockSegment::in_product(const at::Tensor& normalized) const {
  return leaves_.in_weight.value.defined() ? linear(normalized, leaves_.in_weight, leaves_.in_bias) : normalized;
}
at::Tensor BlockSegment::joint(const at::Tensor& normalized) const { return joint_ ? joint_(normalized) : in_product(normalized); }
at::Tensor BlockSegment::out_product(const at::Tensor& mixed) const { return linear(mixed, leaves_.out_weight, leaves_.out_bias); }

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
  const SegmentNames names{"attention", "qkv", "projection"};
  if (config.attention.kind == sim::AttentionKind::Latent)
    return BlockSegment(
        norm_layer(config, layer, names), segment_leaves(layer, names, settings.tensor),
        [projections = latent_projections(config, layer, settings), masks, rotary = settings.rotary](const at::Tensor& normalized,
                                                                                                     const Dropout& scores) {
          return latent_attention(projections, normalized, rotary, masks, scores);
        },
        [projections = latent_projections(config, layer, settings), rotary = settings.rotary](const at::Tensor& normalized) {
          return latent_joint(projections, normalized, rotary);
        });
  return BlockSegment(norm_layer(config, layer, names), segment_leaves(layer, names, settings.tensor),
                      [shape, masks, rotary = settings.rotary](const at::Tensor& joint, const Dropout& scores) {
                        return causal_attention(split_heads(joint, shape, rotary), masks, scores);
                      });
}

BlockSegment make_mlp(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings) {
  const SegmentNames names{"mlp", "up", "down"};
  return BlockSegment(norm_layer(config, layer, names), segment_leaves(layer, names, settings.tensor),
                      [kind = config.activation, gated = config.gated_mlp](const at::Tensor& up, const Dropout&) {
                        return gated ? gated_activation(up, kind) : activation(up, kind);
                      });
}

}  // namespace executor
