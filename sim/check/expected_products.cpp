// What a stage multiplies by, layer by layer, and what its ranks ask each other for where that is in 8 bit.
#include <algorithm>

#include "sim/check/stage_work.h"

namespace sim {

std::int64_t StageWork::columns_of_heads(const TaskKey& key) const {
  const std::int64_t block = key.layer.value() - 1;
  const BlockSizes sizes = sizes_of(plan_.model, block);
  const bool makes_both = plan_.model.keys_as_values && window_of(plan_.model, block) == 0;
  const std::int64_t values = plan_.model.value_dim > 0 ? plan_.model.value_dim : sizes.head_dim,
                     gate = plan_.model.attention_gate ? sizes.heads * (plan_.model.head_gate ? 1 : values) : 0,
                     keys = reads_keys_before(plan_.model, block) ? 0 : sizes.kv_heads * (sizes.head_dim + (makes_both ? 0 : values));
  return sizes.heads * sizes.head_dim + keys + gate;
}

// Latent: down to narrow vectors, which every tensor rank makes whole, and up to its heads; then those of an indexer (DeepSeek-V3.2), but for weights of its heads.
StageWork::Products StageWork::into_heads(const TaskKey& key) const {
  using enum ProductCut;
  const std::int64_t hidden = plan_.model.hidden, rows = rows_of(key.layer);
  const BlockSizes sizes = sizes_of(plan_.model, key.layer.value() - 1);
  const AttentionForm& form = plan_.model.attention;
  if (reads_source(key.layer))
    return {{hidden, sizes.heads * sizes.head_dim, rows, Outputs}, {hidden, 2 * sizes.kv_heads * sizes.head_dim, source_tokens(), Outputs}};
  if (form.kind != AttentionKind::Latent) return {{hidden, columns_of_heads(key), rows, Outputs}};
  const std::int64_t queries = sizes.heads * (form.qk_nope + form.qk_rope), keys = sizes.heads * (form.qk_nope + form.v_dim);
  Products all;
  if (form.q_lora > 0) all.push_back({hidden, form.q_lora, rows, Whole});
  all.push_back({form.q_lora > 0 ? form.q_lora : hidden, queries, rows, Outputs});
  all.push_back({hidden, form.kv_lora + form.qk_rope, rows, Whole});
  all.push_back({form.kv_lora, keys, rows, Outputs});
  if (!form.is_sparse()) return all;
  all.push_back({form.q_lora, form.indexer.heads * form.indexer.width, rows, Whole});
  all.push_back({hidden, form.indexer.width, rows, Whole});
  return all;
}

StageWork::Products StageWork::out_of_heads(const TaskKey& key) const {
  const BlockSizes sizes = sizes_of(plan_.model, key.layer.value() - 1);
  const bool is_latent = plan_.model.attention.kind == AttentionKind::Latent;
  const std::int64_t value = is_latent ? plan_.model.attention.v_dim : plan_.model.value_dim > 0 ? plan_.model.value_dim : sizes.head_dim;
  return {{sizes.heads * value, plan_.model.hidden, rows_of(key.layer), ProductCut::Inputs}};
}

// Of Kimi's scans: to what decays and gates are made of.
StageWork::Products StageWork::narrow_products() const {
  const LinearForm& form = *plan_.model.linear;
  if (form.rule != LinearRule::ChannelDelta) return {};
  return Products(2, {plan_.model.hidden, form.value, tokens(), ProductCut::Whole});
}

StageWork::Products StageWork::feed_forward(const TaskKey& key) const {
  const std::int64_t ffn = sizes_of(plan_.model, key.layer.value() - 1).ffn, hidden = plan_.model.hidden, rows = rows_of(key.layer);
  return {{hidden, ffn * (plan_.model.gated_mlp ? 2 : 1), rows, ProductCut::Outputs}, {ffn, hidden, rows, ProductCut::Inputs}};
}

// Of all tokens; their gate is a number a token, which each tensor rank makes.
StageWork::Products StageWork::beside_experts() const {
  const std::int64_t ffn = plan_.model.experts->shared_ffn, hidden = plan_.model.hidden;
  if (ffn == 0) return {};
  Products all{{hidden, ffn * (plan_.model.gated_mlp ? 2 : 1), tokens(), ProductCut::Outputs}, {ffn, hidden, tokens(), ProductCut::Inputs}};
  if (plan_.model.experts->shared_gate) all.push_back({hidden, 1, tokens(), ProductCut::Whole});
  return all;
}

StageWork::Products StageWork::of_experts() const {
  const std::int64_t ffn = plan_.model.experts->expert_ffn, hidden = plan_.model.hidden,
                     rows = rows_to_experts(has_own_degree() ? tokens() / plan_.mesh.tensor * degree_of_experts() : tokens());
  return {{hidden, ffn * (plan_.model.gated_mlp ? 2 : 1), rows, ProductCut::Outputs, true}, {ffn, hidden, rows, ProductCut::Inputs, true}};
}

// Behind the feed-forward (Gemma 3n): of a rank's own tokens.
StageWork::Products StageWork::layer_inputs() const {
  const std::int64_t width = plan_.model.layer_inputs, hidden = plan_.model.hidden;
  if (width == 0) return {};
  return {{hidden, width, tokens(), ProductCut::Own}, {width, hidden, tokens(), ProductCut::Own}};
}

void StageWork::ask(TaskKey key, Products products, ProductPart part) {
  if (has_no_scales(plan_, key.layer) || plan_.workload.precision.unscaled_parts().has(part)) return;
  const bool backward = key.phase == Phase::Backward;
  if (backward) std::ranges::reverse(products);
  key.operation = Operation::AllReduce;
  for (const CheckedProduct& product : products)
    for (const AskedWithin& asked : asked_by(plan_, product, backward, number(key.layer))) {
      key.group = asked.of;
      next(key, asked.payload);
    }
}

// A part of attention: in one piece, unless tensor ranks meet in front of the heads, or context ranks behind them.
void StageWork::say_projection(std::string_view word, const TaskKey& key) {
  say_word(word, key);
  const bool is_one_piece = word == "attention" && !meets_at_heads(key);
  Products all = is_one_piece || word == "attention_input" ? into_heads(key) : Products{};
  if (word == "attention" || word == "attention_output") std::ranges::copy(out_of_heads(key), std::back_inserter(all));
  ask(key, std::move(all), ProductPart::Attention);
}

}  // namespace sim
