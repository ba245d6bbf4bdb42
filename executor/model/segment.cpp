#include "executor/model/segment.h"

#include <algorithm>
#include <utility>

#include "executor/model/activation.h"
#include "executor/model/attention.h"
#include "executor/model/document_attention.h"
#include "executor/model/head_gate.h"
#include "executor/model/head_norm.h"
#include "executor/model/latent_attention.h"
#include "sim/model/model_words.h"

namespace executor {
namespace {

// The segment's parameters by their names behind "layer."; `in` and `out` are its products.
struct SegmentNames {
  std::string segment, in, out;
  std::string of(const std::string& parameter) const { return "." + segment + "." + parameter; }
};

// Where blocks are parallel and share a norm, that of the feed-forward is attention's.
SegmentNorms segment_norms(const sim::ModelConfig& config, const LayerParts& layer, const SegmentNames& names) {
  const bool reads_attentions = config.parallel_blocks && config.shared_norm;
  return {.before = find_norm(config, layer, reads_attentions ? ".attention.norm" : names.of("norm")),
          .behind = find_norm(config, layer, names.of("norm_behind"))};
}

// A product of some rows of the stream.
struct RowProduct {
  SampleRows rows;
  Leaf weight, bias;
  at::Tensor of(const at::Tensor& stream) const { return adapted_linear(rows.taken(stream), weight, bias, {}, {}); }
};
RowProduct row_product(const LayerParts& layer, const std::string& name, const SampleRows& rows) {
  return {rows, find_leaf(layer, name + ".weight"), find_leaf(layer, name + ".bias")};
}

// Queries of the target, keys and values of the source.
at::Tensor attend_to_source(const at::Tensor& stream, const RowProduct& target, const RowProduct& source, const HeadShape& shape,
                            const ScoreForm& form, const Dropout& dropout) {
  const at::Tensor queries = target.of(stream).view({-1, target.rows.count, shape.heads, shape.head_dim});
  const at::Tensor both = source.of(stream).view({-1, source.rows.count, 2, shape.kv_heads, shape.head_dim});
  const auto heads = [&](std::int64_t which) { return both.select(2, which).transpose(1, 2); };
  return attend_heads({queries.transpose(1, 2), heads(0), heads(1)}, form, dropout);
}

// Of a product whose outputs tensor ranks share, this rank's part of each block.
LowRank low_rank(const sim::ModelConfig& config, const LayerParts& layer, const sim::Operator& product, const SegmentSettings& settings) {
  LowRank adapter{.down = find_leaf(layer, ".adapters." + product.name + "_a.weight"),
                  .up = find_leaf(layer, ".adapters." + product.name + "_b.weight"),
                  .scale = settings.adapter_scale};
  if (!adapter.is_there()) return adapter;
  const sim::AdapterPairs all = sim::adapter_pairs(config, product);
  const std::int64_t ranks = product.split == sim::TensorSplit::Rows ? settings.tensor.degree : 1;
  adapter.pairs = all.pairs;
  for (const sim::AdapterBlock& block : all.blocks) adapter.blocks.push_back({block.begin / ranks, block.outputs / ranks});
  const std::int64_t cuts = product.split == sim::TensorSplit::Columns ? settings.tensor.degree : 1, inputs = adapter.down.value.size(1);
  adapter.inputs = inputs * cuts;
  adapter.first_input = cuts == 1 ? 0 : settings.tensor.rank * inputs;
  return adapter;
}

SegmentLeaves segment_leaves(const sim::ModelConfig& config, const LayerParts& layer, const SegmentNames& names,
                             const SegmentSettings& settings) {
  const TensorPosition tensor = settings.tensor;
  const auto leaf = [&](const std::string& name) { return find_leaf(layer, names.of(name)); };
  const auto adapter = [&](const std::string& name, std::int64_t outputs, sim::TensorSplit split) {
    sim::Operator product{.kind = sim::OperatorKind::Linear, .name = name, .outputs = outputs, .split = split};
    product.heads = sim::heads_of(config);
    return low_rank(config, layer, product, settings);
  };
  const Leaf bias = leaf(names.out + ".bias");
  return {.in_weight = leaf(names.in + ".weight"),
          .in_bias = leaf(names.in + ".bias"),
          .out_weight = leaf(names.out + ".weight"),
          .out_bias = tensor.degree == 1 ? bias : Leaf{},
          .late_bias = tensor.degree == 1 ? Leaf{} : bias,
          .in_adapter = adapter(names.in, (config.gated_mlp ? 2 : 1) * config.ffn, sim::TensorSplit::Rows),
          .out_adapter = adapter(names.out, config.hidden, sim::TensorSplit::Columns)};
}

}  // namespace

BlockSegment::BlockSegment(SegmentNorms norms, SegmentLeaves leaves, SegmentFunctions functions)
    : norms_(std::move(norms)), leaves_(std::move(leaves)), functions_(std::move(functions)) {}

at::Tensor BlockSegment::core(const at::Tensor& normalized, const CoreInputs& inputs) const {
  return out_product(functions_.middle(in_product(normalized, inputs.in), inputs), inputs.out);
}

at::Tensor BlockSegment::core_of_heads(const at::Tensor& joint, const CoreInputs& inputs) const {
  return out_product(functions_.middle(behind_columns(joint), inputs), inputs.out);
}

at::Tensor BlockSegment::in_product(const at::Tensor& normalized, const PairMasks& masks) const {
  if (!leaves_.in_weight.value.defined()) return normalized;
  const at::Tensor product = adapted_linear(normalized, leaves_.in_weight, leaves_.in_bias, leaves_.in_adapter, masks);
  return functions_.cut_heads ? product : behind_columns(product);
}
at::Tensor BlockSegment::joint(const at::Tensor& normalized, const PairMasks& masks) const {
  return functions_.joint ? functions_.joint(normalized) : in_product(normalized, masks);
}
at::Tensor BlockSegment::mixed(const at::Tensor& joint, const CoreInputs& inputs) const {
  return functions_.mixed ? functions_.mixed(joint, inputs) : functions_.middle(joint, inputs);
}
at::Tensor BlockSegment::out_product(const at::Tensor& mixed, const PairMasks& masks) const {
  return adapted_linear(mixed, leaves_.out_weight, leaves_.out_bias, leaves_.out_adapter, masks);
}

Leaf find_leaf(const LayerParts& layer, std::string_view suffix) {
  for (std::size_t at = 0; at < layer.parameters.size(); ++at)
    if (layer.parameters[at].name.ends_with(suffix)) return layer.leaves[at];
  return {};
}

NormLayer norm_layer(const sim::ModelConfig& config, const LayerParts& layer, const std::string& name) {
  return {.kind = config.norm,
          .epsilon = config.norm_epsilon,
          .scale = find_leaf(layer, name + ".weight"),
          .shift = find_leaf(layer, name + ".bias"),
          .offset = config.offset_norm};
}

namespace {

bool stands_without_weights(const sim::ModelConfig& config, std::string_view name) {
  if (config.norm_weight) return false;
  if (name == "head.norm") return config.final_norm;
  if (name == "head.transform_norm") return true;
  if (name == ".norm") return config.embedding_norm;
  if (name == ".source_norm") return config.embedding_norm && config.encoder;
  if (name.ends_with("norm_behind")) return config.norm_place != sim::NormPlace::Before;
  const bool is_shared = name.ends_with("mlp.norm") && config.parallel_blocks && config.shared_norm;
  return !is_shared && (config.norm_place == sim::NormPlace::Before || config.norm_place == sim::NormPlace::Around);
}

}  // namespace

std::optional<NormLayer> find_norm(const sim::ModelConfig& config, const LayerParts& layer, const std::string& name) {
  const NormLayer norm = norm_layer(config, layer, name);
  return norm.scale.value.defined() || stands_without_weights(config, name) ? std::optional(norm) : std::nullopt;
}

namespace {

// Packed weights are bytes.
at::TensorOptions options_of_numbers(const LayerParts& layer) {
  return std::ranges::find_if(layer.leaves, [](const Leaf& leaf) { return !leaf.packed; })->value.options();
}

}  // namespace

ScoreForm score_form(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings) {
  const std::int64_t heads = config.heads / (settings.tensor.degree * settings.head_ranks), first_dealt = settings.head_rank * heads,
                     first = settings.tensor.rank * heads * settings.head_ranks + first_dealt;
  ScoreForm form{.heads = config.heads,
                 .first_head = first,
                 .keeps_scores = settings.keeps_scores && !settings.attends_again,
                 .is_again = settings.attends_again,
                 .is_causal = !config.bidirectional && !(config.encoder && settings.rows.first == 0) && settings.source.are_all(),
                 .window = settings.window,
                 .scale = config.score_scale,
                 .cap = config.score_cap,
                 .sinks = find_leaf(layer, ".attention.sinks"),
                 .first_sink = first_dealt,
                 .distances = settings.distances,
                 .columns = settings.columns};
  if (config.position == sim::Position::Alibi)
    form.slopes = alibi_slopes(config.heads, {.first = first, .count = heads}, options_of_numbers(layer));
  return form;
}

namespace {

HeadShape latent_shape(const sim::AttentionForm& form, HeadShape shape) {
  shape.kv_heads = shape.heads;
  shape.head_dim = form.key_width();
  shape.value_dim = form.v_dim;
  return shape;
}

// Of tensor ranks that meet there, if they do.
std::optional<CutHeads> cut_heads(const sim::ModelConfig& config, const HeadShape& shape, const HeadNorms& norms, TensorPosition tensor) {
  if (tensor.degree > 1 && norms.is_joint) return CutNorms(shape, norms, tensor.degree);
  if (config.kv_heads >= tensor.degree) return std::nullopt;
  return SharedKeys(shape, {.all = tensor.degree, .own = tensor.rank, .kv_heads = config.kv_heads});
}

HeadNorms behind_turn(HeadNorms norms, const at::Tensor& rotary, const Documents& documents = {}) {
  norms.turn_first = rotary, norms.documents = documents;
  return norms;
}

bool norms_behind_turn(const sim::ModelConfig& config, const SegmentSettings& settings) {
  return sim::norms_turned_heads(config) && settings.rotary.defined();
}

// Of whole heads in front of their scores: norms; where keys are passed on their turn, too, if it comes first. Those of all heads are made where ranks meet.
std::function<at::Tensor(const at::Tensor&)> behind_columns_of(const sim::ModelConfig& config, HeadShape shape, const HeadNorms& norms,
                                                               const SegmentSettings& settings) {
  if (norms_behind_turn(config, settings) && settings.passes_keys) {
    shape.sequence = settings.tokens;
    return [shape, turned = behind_turn(norms, settings.rotary)](const at::Tensor& joint) { return norm_heads(joint, shape, turned); };
  }
  const bool are_normed = norms.is_joint && settings.tensor.degree > 1;
  if (config.qk_norm == sim::QkNorm::None || sim::norms_turned_heads(config) || are_normed) return nullptr;
  return [shape, norms](const at::Tensor& joint) { return norm_heads(joint, shape, norms); };
}

}  // namespace

BlockSegment make_attention(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings) {
  const HeadShape shape{.heads = config.heads / settings.tensor.degree,
                        .kv_heads = std::max<std::int64_t>(1, config.kv_heads / settings.tensor.degree),
                        .head_dim = config.head_dim,
                        .sequence = settings.rows.are_all() ? settings.sequence : settings.rows.count,
                        .value_dim = config.value_dim,
                        .gates = sim::heads_of(config).gate / settings.tensor.degree,
                        .value_factor = config.value_factor};
  HeadShape dealt = shape;
  for (std::int64_t* heads : {&dealt.heads, &dealt.kv_heads}) *heads /= settings.head_ranks;
  if (settings.head_ranks > 1) dealt.gates = 0;  // they stay with the tokens
  const SegmentNames names{"attention", "qkv", "projection"};
  const auto segment = [&](SegmentFunctions functions) {
    functions.rows = settings.rows;
    return BlockSegment(segment_norms(config, layer, names), segment_leaves(config, layer, names, settings), std::move(functions));
  };
  const ScoreForm form = score_form(config, layer, settings);
  if (!settings.source.are_all())
    return segment(
        {.middle = [target = row_product(layer, ".attention.query", settings.rows),
                    source = row_product(layer, ".attention.keys", settings.source), shape,
                    form](const at::Tensor& stream,
                          const CoreInputs& inputs) { return attend_to_source(stream, target, source, shape, form, inputs.scores); },
         .reads_all = true});
  if (config.attention.kind == sim::AttentionKind::Latent)
    return segment(
        {.middle = [projections = latent_projections(config, layer, settings), form, rotary = settings.rotary](
                       const at::Tensor& normalized,
                       const CoreInputs& inputs) { return latent_attention(projections, normalized, rotary, form, inputs); },
         .joint = [projections = latent_projections(config, layer, settings),
                   rotary = settings.rotary](const at::Tensor& normalized) { return latent_joint(projections, normalized, rotary); },
         .mixed = [heads = latent_shape(config.attention, dealt)](
                      const at::Tensor& joint, const CoreInputs& inputs) { return latent_mixed(joint, heads, inputs.attended); }});
  const HeadNorms norms{.queries = norm_layer(config, layer, names.of("q_head_norm")),
                        .keys = norm_layer(config, layer, names.of("k_head_norm")),
                        .is_joint = config.qk_norm == sim::QkNorm::Joint};
  const bool norms_turned = norms_behind_turn(config, settings);
  const auto operands_of = [dealt, norms, norms_turned, rotary = settings.rotary](const at::Tensor& joint, const Documents& positions) {
    if (!norms_turned) return split_joint(joint, dealt, rotary, positions);
    return split_joint(norm_heads(joint, dealt, behind_turn(norms, rotary, positions)), dealt, {});
  };
  const GateKind gate = config.softplus_gate ? GateKind::Softplus : GateKind::Sigmoid;
  SegmentFunctions functions{.middle = [operands_of, form, gate](const at::Tensor& joint, const CoreInputs& inputs) {
    const auto [operands, gates] = operands_of(joint, inputs.positions);
    const at::Tensor mixed = inputs.attended.none() ? attend_heads(operands, form, inputs.scores)
                                                    : attend_documents(operands, inputs.attended, form, inputs.scores);
    return gates.defined() ? gated_heads(mixed, gates, gate) : mixed;
  }};
  functions.gated = [gate](const at::Tensor& mixed, const at::Tensor& gates) { return gated_heads(mixed, gates, gate); };
  functions.cut_heads = cut_heads(config, shape, norms, settings.tensor);
  functions.behind_in = behind_columns_of(config, shape, norms, settings);
  return segment(std::move(functions));
}

BlockSegment make_mlp(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings) {
  const SegmentNames names{"mlp", "up", "down"};
  return BlockSegment(
      segment_norms(config, layer, names), segment_leaves(config, layer, names, settings),
      {.middle = [gate = gate_form(config), gated = config.gated_mlp](
                     const at::Tensor& up, const CoreInputs&) { return gated ? gated_activation(up, gate) : activation(up, gate.kind); },
       .rows = settings.rows});
}

}  // namespace executor
