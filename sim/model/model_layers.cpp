#include "sim/model/model_layers.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sim/model/block_parts.h"
#include "sim/model/distance_holder.h"
#include "sim/model/joint_columns.h"
#include "sim/model/layer_inputs.h"
#include "sim/model/linear_layers.h"
#include "sim/model/parameter_list.h"
#include "sim/model/sparse_layers.h"
#include "sim/model/table_width.h"
#include "sim/units/at.h"

namespace sim {
namespace {

Operator with_heads(Operator op, const Heads& heads) {
  op.heads = heads;
  return op;
}
Operator qkv_of(const ModelConfig& config) {
  const Heads heads = heads_of(config);
  return with_heads({OperatorKind::Linear, "qkv", config.hidden, heads.columns(), TensorSplit::Rows, config.attention_bias}, heads);
}
// Queries (without q_lora directly), and keys with values, by way of narrow vectors that every tensor rank computes and norms.
std::vector<Operator> latent_projections(const ModelConfig& config) {
  const AttentionForm& form = config.attention;
  std::vector<Operator> all;
  const auto down = [&](const char* name, std::int64_t outputs) {
    all.push_back(within(gathered({OperatorKind::Linear, name, config.hidden, outputs, TensorSplit::None, false})));
  };
  const auto norm = [&](const char* name, std::int64_t width) {
    all.push_back(within(gathered(same_width(OperatorKind::Norm, name, width)), Module::MlaUpProjection));
  };
  const auto up = [&](const char* name, std::int64_t inputs, std::int64_t outputs) {
    all.push_back(within({OperatorKind::Linear, name, inputs, outputs, TensorSplit::Rows, false}, Module::MlaUpProjection));
  };
  const std::int64_t query = attention_widths(config).query;
  if (form.q_lora > 0) {
    down("q_down", form.q_lora);
    norm("q_norm", form.q_lora);
    up("q_up", form.q_lora, query);
  } else {
    up("q", config.hidden, query);
  }
  down("kv_down", form.kv_lora + form.qk_rope);
  norm("kv_norm", form.kv_lora);
  up("kv_up", form.kv_lora, config.heads * (form.qk_nope + form.v_dim));
  return all;
}
Operator projection_of(const ModelConfig& config) {
  return {OperatorKind::Linear, "projection", attention_widths(config).output, config.hidden, TensorSplit::Columns, config.projection_bias};
}
Operator up_of(const ModelConfig& config) {
  return {OperatorKind::Linear, "up",
          config.hidden,        (config.gated_mlp ? 2 : 1) * config.ffn,
          TensorSplit::Rows,    config.mlp_bias && config.up_bias};
}
Operator down_of(const ModelConfig& config) {
  return {OperatorKind::Linear, "down", config.ffn, config.hidden, TensorSplit::Columns, config.mlp_bias};
}
// Of all experts of a rank's part of the widths; their weights stand one below the other.
Operator expert_up(const ModelConfig& config) {
  const ExpertForm& form = *config.experts;
  return {OperatorKind::Linear, "expert_up", config.hidden, (config.gated_mlp ? 2 : 1) * form.expert_ffn,
          TensorSplit::Rows,    form.biases, form.experts,  form.topk};
}
Operator expert_down(const ModelConfig& config) {
  const ExpertForm& form = *config.experts;
  return {OperatorKind::Linear, "expert_down", form.expert_ffn, config.hidden, TensorSplit::Columns, form.biases, form.experts, form.topk};
}
Operator router_of(const ModelConfig& config) {
  return routes({OperatorKind::Linear, "router", config.hidden, config.experts->experts, TensorSplit::None, config.experts->biases});
}
Operator shared_gate(const ModelConfig& config) {
  return gathered({OperatorKind::Linear, "shared_gate", config.hidden, 1, TensorSplit::None, false});
}
Operator shared_up(const ModelConfig& config) {
  return {OperatorKind::Linear, "shared_up", config.hidden, (config.gated_mlp ? 2 : 1) * config.experts->shared_ffn,
          TensorSplit::Rows,    false};
}
Operator shared_down(const ModelConfig& config) {
  return {OperatorKind::Linear, "shared_down", config.experts->shared_ffn, config.hidden, TensorSplit::Columns, false};
}
// Attention to the source: queries of the target, keys and values of the source.
Operator source_query(const ModelConfig& config) {
  return {OperatorKind::Linear, "query", config.hidden, attention_widths(config).query, TensorSplit::Rows, config.attention_bias};
}
Operator source_keys(const ModelConfig& config) {
  const AttentionWidths widths = attention_widths(config);
  Operator op{OperatorKind::Linear, "keys", config.hidden, widths.key + widths.value, TensorSplit::Rows, config.attention_bias};
  op.tokens = Tokens::Source;
  return op;
}
// Some of its columns are of keys (or values).
Operator with_keys(Operator op, const Heads& heads, std::int64_t keys) {
  op.keys = keys;
  return with_heads(std::move(op), heads);
}
Meets over_context(Meeting meeting, std::int64_t width, const AttentionWidths& widths, const Heads& heads) {
  return {.axis = SplitAxis::Context, .meeting = meeting, .width = width, .block = widths.key + widths.value, .heads = heads};
}
// Between the columns that tensor ranks make and their heads: norms of all heads ask for the sum of squares of queries, and for that of keys. A layer whose
// keys another one made norms queries alone.
std::optional<Meets> meets_at_heads(const ModelConfig& config, const Heads& heads) {
  if (config.qk_norm == QkNorm::Joint) return over_tensor(Meeting::Norms, heads.made_before ? 1 : 2);
  if (!heads.are_shared() || heads.made_before) return std::nullopt;
  Meets share = over_tensor(Meeting::Share, heads.columns());
  share.heads = heads;
  return share;
}
SegmentGraph attention_segment(const ModelConfig& config, const BlockForm& form) {
  const AttentionWidths widths = attention_widths(config);
  const bool is_latent = config.attention.kind == AttentionKind::Latent;
  const Heads heads = heads_of(config);
  SegmentBuilder segment(Operation::Attention, {.name = Operation::AttentionNorm, .is_side = true}, &config, form.tokens);
  segment.then(over_tensor(Meeting::Enter, config.hidden), {.name = Operation::AttentionInput});
  const std::optional<Meets> at_heads = meets_at_heads(config, heads);
  if (at_heads) segment.then(*at_heads, {.name = Operation::AttentionHeads, .is_side = true});
  const std::int32_t heads_part = at_heads ? kCore + 1 : kCore, scores_part = heads_part + 1, output_part = scores_part + 1;
  segment.then(over_context(Meeting::Enter, widths.query, widths, heads), {.name = Operation::AttentionScores});
  segment.then(over_context(Meeting::Leave, widths.output, widths, heads), {.name = Operation::AttentionOutput});
  add_tail(segment, config, Operation::AttentionResidual);
  const std::optional<std::size_t> norm = add_norm(segment, config, has_norm_before(config) && !form.bare);
  std::size_t qkv = 0;
  for (const Operator& op : is_latent ? latent_projections(config) : std::vector{within(qkv_of(config))}) qkv = segment.add(kCore, op);
  const bool is_sparse = config.attention.is_sparse();
  if (is_sparse)
    for (const Operator& op : index_products(config)) segment.add(kCore, op);
  const bool is_rotary = config.position == Position::Rotary && !form.unturned;
  const bool norms_heads = config.qk_norm == QkNorm::Plain ? is_rotary : config.qk_norm != QkNorm::None;  // Llama 4: of what turns
  const std::int64_t turned_keys =
      is_sparse || heads.made_before ? 0 : heads.keys;  // sparse: one for all heads, which turns with the indexer's
  const std::int64_t normed_keys = heads.made_before ? 0 : widths.key + (config.value_norm ? widths.value : 0);
  if (norms_heads)
    segment.add(heads_part, within(with_keys(split_width(OperatorKind::Norm, "qk_norm", widths.query + normed_keys), heads, normed_keys)));
  if (is_rotary)
    segment.add(heads_part,
                within(with_keys(split_width(OperatorKind::Rotary, "rotary", (config.heads + turned_keys) * rotary_width(config)), heads,
                                 turned_keys * rotary_width(config)),
                       is_latent ? Modules(Module::MlaUpProjection) : Modules()));
  if (is_sparse && is_rotary) segment.add(heads_part, index_rotary(config));
  if (is_sparse) segment.add(scores_part, index_scores(config));
  Operator scores = with_keys({OperatorKind::Attention, "attention", widths.joint(), widths.output, TensorSplit::Rows, false}, heads,
                              widths.key + widths.value);
  scores.window = form.window;
  scores.chunked = config.chunked && form.window > 0;
  scores.modules = Module::CoreAttention;
  scores.keys_of = form.tokens;
  const std::size_t attention = segment.add(scores_part, scores);
  if (is_rotary || norms_heads) segment.connect({qkv, attention});  // the values are not turned
  if (heads.gate > 0) {
    const std::int64_t width = widths.output;
    const std::size_t gate =
        segment.add(output_part, within({OperatorKind::Activation, "gate", width + heads.gate, width, TensorSplit::Rows}));
    segment.connect({qkv, gate});
  }
  if (config.inner_norms) segment.add(output_part, within(split_width(OperatorKind::Norm, "inner_norm", widths.output)));
  segment.add(output_part, within(projection_of(config)));
  add_residual(segment, config, output_part + 1, norm);
  return std::move(segment).finish();
}

// Rows of the source enter as the encoder left them: their gradients meet those of the norm's output in one sum over tensor ranks.
SegmentGraph source_attention_segment(const ModelConfig& config) {
  const AttentionWidths widths = attention_widths(config);
  SegmentBuilder segment(Operation::Attention, {.name = Operation::AttentionNorm, .is_side = true}, &config, Tokens::Target);
  segment.then_of_all(over_tensor(Meeting::Enter, config.hidden), {.name = Operation::AttentionInput});
  const Heads heads = heads_of(config);
  segment.then(over_context(Meeting::Enter, widths.query, widths, heads), {.name = Operation::AttentionScores});
  segment.then(over_context(Meeting::Leave, widths.output, widths, heads), {.name = Operation::AttentionOutput});
  add_tail(segment, config, Operation::AttentionResidual);
  const std::optional<std::size_t> norm = add_norm(segment, config, has_norm_before(config));
  segment.add(kCore, within(source_query(config)));
  segment.add(kCore, within(source_keys(config)));
  Operator scores = with_keys({OperatorKind::Attention, "attention", widths.joint(), widths.output, TensorSplit::Rows, false}, heads,
                              widths.key + widths.value);
  scores.modules = Module::CoreAttention;
  scores.keys_of = Tokens::Source;
  segment.add(kCore + 1, scores);
  segment.add(kCore + 2, within(projection_of(config)));
  add_residual(segment, config, kCore + 3, norm);
  return std::move(segment).finish();
}

SegmentGraph mlp_segment(const ModelConfig& config, const BlockForm& form) {
  SegmentBuilder segment(Operation::Mlp, {.name = Operation::MlpNorm, .is_side = true}, &config, form.tokens);
  segment.then(over_tensor(Meeting::Enter, config.hidden), {.name = Operation::Mlp});
  add_tail(segment, config, Operation::MlpResidual, false, form.ends_encoder);
  const std::optional<std::size_t> norm = add_norm(segment, config, has_own_norm(config));
  segment.recomputed_as(Module::Mlp);
  segment.add(kCore, within(up_of(config)));
  segment.add(kCore, within({OperatorKind::Activation, "activation", up_of(config).outputs, config.ffn, TensorSplit::Rows, false}));
  if (config.ffn_dropout > 0) segment.add(kCore, split_width(OperatorKind::Dropout, "inner_dropout", config.ffn));
  if (config.inner_norms) segment.add(kCore, within(split_width(OperatorKind::Norm, "inner_norm", config.ffn)));
  segment.add(kCore, within(down_of(config)));
  add_residual(segment, config, kCore + 1, norm, form.ends_encoder);
  add_layer_input(segment, config, kCore + 1);
  return std::move(segment).finish();
}

// Shared experts take every token and wait for nobody: they run before tokens leave. What comes back is read again, not what is made of it.
SegmentGraph expert_segment(const ModelConfig& config) {
  const ExpertForm& form = *config.experts;
  const std::int64_t hidden = config.hidden;
  SegmentBuilder segment(Operation::Experts, {.name = Operation::MlpNorm, .is_side = true}, &config);
  const bool alone = form.shared_ffn == 0;  // shared experts see all tokens, whatever the others do
  segment.then(over_tensor(Meeting::Enter, hidden, alone), {.name = Operation::ExpertInput});
  segment.then({SplitAxis::Expert, Meeting::Enter, hidden}, {.name = Operation::Experts});
  segment.then({SplitAxis::Expert, Meeting::Leave, hidden}, {.name = Operation::ExpertOutput, .feeds_backward = false});
  add_tail(segment, config, Operation::MlpResidual, alone);
  const std::optional<std::size_t> norm = add_norm(segment, config, has_own_norm(config));
  segment.recomputed_as(Module::Moe);
  segment.add(kCore, within(unscaled(router_of(config))));
  segment.add(kCore, within(routes(same_width(OperatorKind::Routing, "routing", form.experts))));
  if (form.shared_ffn > 0) {
    const Operator activation{OperatorKind::Activation, "shared_activation", shared_up(config).outputs, form.shared_ffn, TensorSplit::Rows};
    for (const Operator& op : {shared_up(config), activation, shared_down(config)}) segment.add(kCore, within(op, Module::SharedExperts));
    if (form.shared_gate) segment.add(kCore, within(shared_gate(config)));
  }
  segment.add(kCore, within({OperatorKind::Permutation, "to_experts", hidden, hidden, TensorSplit::None, false, form.experts, form.topk}));
  const Operator activation{OperatorKind::Activation,
                            "expert_activation",
                            expert_up(config).outputs,
                            form.expert_ffn,
                            TensorSplit::Rows,
                            false,
                            form.experts,
                            form.topk};
  segment.add(kProducts, within(expert_up(config)));
  segment.add(kProducts, within(activation, Module::MoeActivation));
  segment.add(kProducts, within(expert_down(config)));
  segment.add(kThirdCore, {OperatorKind::Permutation, "from_experts", hidden, hidden, TensorSplit::None, false, form.experts, form.topk});
  add_residual(segment, config, kThirdCore + 1, norm);
  return std::move(segment).finish();
}

void add_expert_parameters(ParameterList& parameters, const ModelConfig& config, double into_residual) {
  const ExpertForm& form = *config.experts;
  parameters.add_whole("mlp.router", router_of(config), config.initializer_range);
  if (form.score_correction) parameters.add_correction("mlp.router.correction", form.experts);
  if (form.shared_ffn > 0) {
    parameters.add_linear("mlp.shared.up", shared_up(config), std::vector<std::int64_t>(config.gated_mlp ? 2 : 1, form.shared_ffn),
                          config.initializer_range);
    parameters.add_linear("mlp.shared.down", shared_down(config), {config.hidden}, into_residual);
    if (form.shared_gate) parameters.add_whole("mlp.shared.gate", shared_gate(config), config.initializer_range);
  }
  const std::vector<std::int64_t> up(config.gated_mlp ? 2 : 1, form.expert_ffn), down{config.hidden};
  parameters.add_experts("mlp.experts.up", expert_up(config), up, config.initializer_range);
  parameters.add_expert_biases("mlp.experts.up", expert_up(config), up);
  parameters.add_experts("mlp.experts.down", expert_down(config), down, into_residual);
  parameters.add_expert_biases("mlp.experts.down", expert_down(config), down);
}

void add_feed_forward_parameters(ParameterList& parameters, const ModelConfig& config, const BlockForm& form, double into_residual) {
  if (has_own_norm(config)) parameters.add_norm("mlp.norm");
  if (form.experts) {
    add_expert_parameters(parameters, config, into_residual);
  } else {
    const std::vector<std::int64_t> up_blocks(config.gated_mlp ? 2 : 1, config.ffn);
    parameters.add_linear("mlp.up", up_of(config), up_blocks, config.initializer_range);
    for (const char* side : {"mlp.activation.positive", "mlp.activation.negative"})
      if (config.activation == Activation::Xielu) parameters.add_number(side);
    if (config.inner_norms) parameters.add_gate_norm("mlp.inner_norm", config.ffn, true);
    parameters.add_linear("mlp.down", down_of(config), {config.hidden}, into_residual);
  }
  if (has_norm_behind(config) || form.ends_encoder) parameters.add_norm("mlp.norm_behind");
  parameters.add_layer_scale("mlp");
  add_layer_input_parameters(parameters, config);
}

void add_attention_parameters(ParameterList& parameters, const ModelConfig& config, const BlockForm& form, double into_residual) {
  const AttentionWidths widths = attention_widths(config);
  if (has_norm_before(config) && !form.bare) parameters.add_norm("attention.norm");
  if (config.attention.kind == AttentionKind::Latent) {
    for (const Operator& op : latent_projections(config)) {
      if (op.kind == OperatorKind::Norm)
        parameters.add_inner_norm("attention." + op.name, op);
      else
        parameters.add_linear("attention." + op.name, op, {op.outputs}, config.initializer_range);
    }
    if (config.attention.is_sparse()) add_index_parameters(parameters, config);
  } else if (form.reads_source) {
    parameters.add_linear("attention.query", source_query(config), {widths.query}, config.initializer_range);
    parameters.add_matrix("attention.keys.weight", {widths.key, widths.value}, source_keys(config), config.initializer_range);
    parameters.add_bias("attention.keys", source_keys(config),
                        config.key_bias ? std::vector{widths.key, widths.value} : std::vector{widths.value});
  } else {
    const std::vector<std::int64_t> blocks = joint_blocks(heads_of(config));
    parameters.add_matrix("attention.qkv.weight", blocks, qkv_of(config), config.initializer_range);
    parameters.add_bias("attention.qkv", qkv_of(config), joint_biases(config));
  }
  if (config.qk_norm != QkNorm::None && config.qk_norm != QkNorm::Plain) {
    parameters.add_qk_norm("attention.q_head_norm", widths.query);
    if (!heads_of(config).made_before) parameters.add_qk_norm("attention.k_head_norm", widths.key);
  }
  if (config.sinks) parameters.add_per_head("attention.sinks", config.heads);
  if (form.holds_distances) parameters.add_table_of_heads("attention.distances", config.encoder->relative_buckets);
  if (config.inner_norms) parameters.add_gate_norm("attention.inner_norm", widths.output, true);
  parameters.add_linear("attention.projection", projection_of(config), {config.hidden}, into_residual);
  if (has_norm_behind(config)) parameters.add_norm("attention.norm_behind");
  parameters.add_layer_scale("attention");
}

// A convolution whose squares do not overlap is a product; tensor ranks share what it reads. Nobody wants the gradient of an image.
Operator patches_of(const ModelConfig& config) {
  Operator op{OperatorKind::Linear, "patches", config.patches->width(), config.hidden, TensorSplit::Columns, true};
  op.map.of_images = true;
  return op;
}
Operator of_rows(Operator op, Tokens tokens) {
  op.tokens = tokens;
  return op;
}
// Two convolutions over three frames each are products of as many; a place of the encoder is two of the first one's.
constexpr std::int64_t kTaps = 3, kFirstPlaces = 2;
std::vector<Operator> hearing(const ModelConfig& config) {
  Operator first{OperatorKind::Linear, "first_frames", kTaps * config.encoder->frame_width, config.hidden, TensorSplit::None, true},
      second{OperatorKind::Linear, "second_frames", kTaps * config.hidden, config.hidden, TensorSplit::None, true};
  Operator first_bend = same_width(OperatorKind::Activation, "first_activation", config.hidden),
           second_bend = same_width(OperatorKind::Activation, "second_activation", config.hidden);
  first.map.of_images = true;
  first.copies = first_bend.copies = kFirstPlaces;
  std::vector<Operator> all{first, first_bend, second, second_bend};
  for (Operator& op : all) op.tokens = Tokens::Source, op.unscaled = op.kind == OperatorKind::Linear;
  return all;
}

}  // namespace

Layer embedding_layer(const ModelConfig& config, std::int64_t padded_vocabulary) {
  constexpr std::int32_t kTable = 0, kTail = 1;  // a part of the vocabulary each; summed, positions are added
  SegmentBuilder segment(Operation::Embedding, {.name = Operation::Embedding}, &config);
  segment.then(over_tensor(Meeting::Leave, width_at_table(config)), {.name = Operation::EmbeddingPositions, .is_side = true});
  ParameterList parameters(config, "embedding.");
  const std::int64_t width = table_width(config);
  const Tokens target = config.encoder ? Tokens::Target : Tokens::All;
  const bool hears = config.encoder && config.encoder->hears();
  if (config.patches) {
    segment.add(kTable, unscaled(patches_of(config)));
    parameters.add_linear("patches", patches_of(config), {config.hidden}, config.initializer_range);
    const Operator wide{OperatorKind::EmbeddingLookup, "table", config.hidden, config.hidden, TensorSplit::None, false};
    const std::int64_t learned = config.patches->leading + config.patches->registers;
    if (learned > 0) parameters.add_matrix("class.weight", {learned}, wide, config.initializer_range);
  } else {
    const Operator tokens{OperatorKind::EmbeddingLookup, "tokens", padded_vocabulary, width, TensorSplit::Rows, false};
    segment.add(kTable, of_rows(tokens, hears ? Tokens::Target : Tokens::All));
    const Operator table{OperatorKind::EmbeddingLookup, "table", width, width, TensorSplit::Rows, false};
    parameters.add_matrix("tokens.weight", {padded_vocabulary}, table, config.initializer_range);
  }
  const auto whole_table = [&](const char* name, std::int64_t rows, Tokens tokens = Tokens::All) {
    const std::int64_t wide_as = width_at_table(config);
    segment.add(kTail, of_rows({OperatorKind::EmbeddingLookup, name, rows, wide_as, TensorSplit::None, false}, tokens));
    const Operator wide{OperatorKind::EmbeddingLookup, "table", wide_as, wide_as, TensorSplit::None, false};
    parameters.add_matrix(std::string(name) + ".weight", {rows}, wide, config.initializer_range);
  };
  if (config.embedding_width > 0 && !config.narrow_tables) {
    segment.add(kTable, unscaled(widening(config)));
    parameters.add_whole("widening", widening(config), config.initializer_range);
  }
  for (const Operator& op : hears ? hearing(config) : std::vector<Operator>()) {
    segment.add(kTail, op);
    if (op.kind == OperatorKind::Linear) parameters.add_linear(op.name, op, {config.hidden}, config.initializer_range);
  }
  if (config.position == Position::Learned) {
    const std::int64_t rows = config.patches ? config.patches->placed() : config.max_positions + config.position_offset;
    if (config.encoder && !hears) whole_table("source_positions", rows, Tokens::Source);
    whole_table("positions", rows, target);
  }
  if (config.token_types > 0) whole_table("types", config.token_types);
  if (config.embedding_norm) {
    if (config.encoder) {
      segment.add(kTail, of_rows(same_width(OperatorKind::Norm, "source_norm", config.hidden), Tokens::Source));
      parameters.add_norm("source_norm");
    }
    const Operator norm = same_width(OperatorKind::Norm, "norm", width_at_table(config));
    segment.add(kTail, of_rows(norm, target));
    add_norm_at_table(parameters, config, "norm", norm);
  }
  if (config.narrow_tables) {
    segment.add(kTail, unscaled(widening(config)));
    parameters.add_linear("widening", widening(config), {config.hidden}, config.initializer_range);
  }
  for (const Operator& op : inputs_of_layers(config)) segment.add(kTail, op);
  add_parameters_of_inputs(parameters, config);
  if (config.embedding_dropout > 0) segment.add(kTail, same_width(OperatorKind::Dropout, "dropout", config.hidden));
  Layer layer;
  layer.segments.push_back(std::move(segment).finish());
  layer.parameters = std::move(parameters).finish();
  return layer;
}

// A is drawn, B begins at zero: the network begins as it was.
void add_adapters(Layer& layer, const ModelConfig& config, const std::string& prefix) {
  for (const SegmentGraph& segment : layer.segments)
    for (const Operator& op : segment.operators) {
      if (op.adapter == AdapterPart::None || op.adapter == AdapterPart::Dropout) continue;
      const bool is_down = op.adapter == AdapterPart::Down;
      const auto product = std::ranges::find(segment.operators, std::string_view(op.name).substr(0, op.name.size() - 2), &Operator::name);
      std::vector<std::int64_t> blocks;
      for (const AdapterBlock& block : adapter_pairs(config, *product).blocks) blocks.push_back(block.outputs);
      layer.parameters.push_back({.name = fmt::format("{}.adapters.{}.weight", prefix, op.name),
                                  .rows = op.outputs,
                                  .columns = op.inputs,
                                  .split = op.split,
                                  .row_blocks = is_down ? std::vector{op.outputs} : blocks,
                                  .initial = is_down ? InitialValue::Normal : InitialValue::Zeros,
                                  .deviation = is_down ? 1 / std::sqrt(static_cast<double>(op.inputs)) : 0,
                                  .partial_gradient = op.gathered});
    }
}

BlockForm block_form(const ModelConfig& config, std::int64_t block) {
  const LayerIndex layer(static_cast<std::int32_t>(block) + 1);
  return {.experts = has_experts(config, block),
          .linear = is_linear(config, block),
          .attends = !is_linear(config, block) || config.linear->beside,
          .window = window_of(config, block),
          .unturned = !config.unturned.empty() && sim::at(config.unturned, block),
          .half = half_of(config, block),
          .tokens = rows_of(config, block),
          .reads_source = attends_to_source(config, block),
          .holds_distances = holder_of_distances(config, layer) == layer,
          .bare = block == 0 && !config.first_norm,
          .ends_encoder = config.encoder && config.encoder->final_norm && block + 1 == config.encoder->layers};
}

// Attention, what is linear, or one behind the other.
void add_mixers(Layer& layer, const ModelConfig& config, const BlockForm& form) {
  if (form.attends) layer.segments.push_back(form.reads_source ? source_attention_segment(config) : attention_segment(config, form));
  if (form.linear) layer.segments.push_back(linear_segment(config));
}

Layer block_layer(const ModelConfig& config, const std::string& prefix, BlockForm form) {
  // GPT-2 keeps the residual stream's variance from growing with depth; Llama starts all matrices alike.
  const bool scales_by_depth = config.norm == Norm::LayerNorm;
  const double into_residual = config.initializer_range / (scales_by_depth ? std::sqrt(2.0 * static_cast<double>(config.layers)) : 1.0);
  ParameterList parameters(config, prefix + ".");
  const bool mixes = form.half != BlockHalf::FeedForward;
  if (mixes && form.attends) add_attention_parameters(parameters, config, form, into_residual);
  if (mixes && form.linear) add_linear_parameters(parameters, config, into_residual);
  if (form.half != BlockHalf::Mixer) add_feed_forward_parameters(parameters, config, form, into_residual);
  Layer layer;
  if (mixes) add_mixers(layer, config, form);
  if (form.half != BlockHalf::Mixer) layer.segments.push_back(form.experts ? expert_segment(config) : mlp_segment(config, form));
  layer.parameters = std::move(parameters).finish();
  add_adapters(layer, config, prefix);
  return layer;
}

Layer head_layer(const ModelConfig& config, std::int64_t padded_vocabulary) {
  // The loss of a cut vocabulary: the maximum, then the sum of exponentials and the target's logit, are those of all tensor ranks.
  SegmentBuilder segment(Operation::Head, {.name = Operation::HeadNorm, .is_side = true}, &config,
                         config.encoder ? Tokens::Target : Tokens::All);
  const std::int64_t times = 1 + config.mtp_layers;
  segment.then(over_tensor(Meeting::Enter, config.hidden * times), {.name = Operation::Head});
  segment.then(over_tensor(Meeting::Statistic, times), {.name = Operation::HeadExponentials, .is_side = true});
  segment.then(over_tensor(Meeting::Statistic, 2 * times), {.name = Operation::HeadLoss, .is_side = true});
  ParameterList parameters(config, "head.");
  if (config.final_norm) {
    for (std::int64_t at = 0; at < times; ++at) segment.add(kNorm, same_width(OperatorKind::Norm, "norm", config.hidden));
    parameters.add_norm("norm");
  }
  if (config.embedding_width > 0 && !config.narrow_tables) {
    segment.add(kCore, unscaled(narrowing(config)));
    parameters.add_whole("narrowing", narrowing(config), config.initializer_range);
  }
  if (config.head_transform) {
    segment.add(kCore, unscaled(transform_of(config)));
    const Operator norm = gathered(same_width(OperatorKind::Norm, "transform_norm", width_at_table(config)));
    segment.add(kCore, gathered(same_width(OperatorKind::Activation, "transform_activation", width_at_table(config))));
    segment.add(kCore, norm);
    parameters.add_whole("transform", transform_of(config), config.initializer_range);
    add_norm_at_table(parameters, config, "transform_norm", norm);
  }
  const std::int64_t read = table_width(config) * (config.patches && config.patches->reads_mean ? 2 : 1);
  Operator projection{OperatorKind::Linear, "projection", read, padded_vocabulary, TensorSplit::Rows, config.head_bias};
  projection.scales_rows = config.normed_head;
  Operator loss{OperatorKind::CrossEntropy, "cross_entropy", padded_vocabulary, 1, TensorSplit::Rows, false};
  loss.spans = 3;
  for (std::int64_t at = 0; at < times; ++at) {
    segment.add(kCore, unscaled(projection));
    if (config.logit_cap > 0)
      segment.add(kCore, {OperatorKind::Activation, "logit_cap", padded_vocabulary, padded_vocabulary, TensorSplit::Rows, false});
    segment.add(kCore, loss);
  }
  if (!config.tied_embeddings) parameters.add_matrix("weight", {padded_vocabulary}, projection, config.initializer_range);
  if (config.head_bias) parameters.add_padded_bias("bias", padded_vocabulary);
  Layer layer;
  layer.segments.push_back(std::move(segment).finish());
  layer.parameters = std::move(parameters).finish();
  return layer;
}

}  // namespace sim
