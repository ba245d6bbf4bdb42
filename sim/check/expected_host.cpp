// What of a block waits on the host for its backward, and gradients of weights that wait for the last one, as the plan alone says them.
#include <algorithm>
#include <utility>
#include <vector>

#include "sim/check/stage_work.h"

namespace sim {

// Which segment a half of a block is; in front of each block that predicts stands one that joins.
std::int32_t StageWork::segment_of(LayerIndex layer, Half half) const {
  const std::int32_t own = half == Half::FeedForward && has_mixer(layer) ? 1 : 0;
  return predictions_of(layer) > 0 ? static_cast<std::int32_t>(3 * depth_) + 1 + own : own;
}

// The last block of a chunk that goes backward next of all: it would leave and come at once.
bool StageWork::comes_at_once(const TaskKey& forward) const {
  const LayerRange range = plan_.layers(stage_, forward.chunk);
  const bool predicts_behind = range.end.value() > model_.head().value() && plan_.model.mtp_layers > 0 && !plan_.model.mtp_apart;
  if (predicts_behind || forward.layer.value() + 1 != std::min(range.end.value(), model_.head().value())) return false;
  const std::vector<StageAction> order = plan_.order(stage_);
  auto action = std::find(order.begin(), order.end(), StageAction{ActionKind::Forward, forward.microbatch, forward.chunk, forward.slice});
  while (action != order.end() && action->kind != ActionKind::Backward) ++action;
  return action != order.end() && action->chunk == forward.chunk && action->microbatch == forward.microbatch;
}

Bytes StageWork::saved_by_mixer(LayerIndex layer) const {
  const AttentionForm& form = plan_.model.attention;
  const bool latent = form.kind == AttentionKind::Latent;
  const BlockSizes sizes = sizes_of(plan_.model, layer.value() - 1);
  const std::int64_t heads = sizes.heads / plan_.mesh.tensor,
                     kv_heads = latent ? heads : std::max<std::int64_t>(1, sizes.kv_heads / plan_.mesh.tensor),
                     key_width = latent ? form.qk_nope + form.qk_rope : sizes.head_dim,
                     value_width = latent                      ? form.v_dim
                                   : plan_.model.value_dim > 0 ? plan_.model.value_dim
                                                               : sizes.head_dim,
                     part = plan_.sequence_parallel ? plan_.mesh.tensor : 1;
  const std::int64_t stream = tokens() / part * model_.config.hidden, out = tokens() * heads * value_width;
  const bool writes = writes_scores(attention_kernel(plan_, habits_of(plan_.cluster)));
  Saved all{{latent ? Module::AttentionNorm : Module::QkvProduct, stream},
            {Module::QkvProduct, habits_of(plan_.cluster).keeps_gathered ? stream * part : stream},
            {Module::CoreAttention, tokens() * heads * key_width},
            {Module::CoreAttention, tokens() * kv_heads * key_width},
            {Module::CoreAttention, tokens() * kv_heads * value_width},
            {Module::CoreAttention, writes ? tokens() * plan_.workload.sequence * heads : out},
            {Module::AttentionProjection, out}};
  for (int side = 0; latent && side < 2; ++side)  // before and behind their norms
    for (const std::int64_t narrow : {form.q_lora, form.kv_lora}) all.emplace_back(Module::QkvProduct, tokens() * narrow);
  return of_modules(all);
}

Bytes StageWork::saved_by_experts() const {
  const ExpertForm& form = *plan_.model.experts;
  const std::int64_t part = plan_.sequence_parallel ? plan_.mesh.tensor : 1,
                     rows =
                         has_own_degree() ? rows_to_experts(tokens() / plan_.mesh.tensor) * degree_of_experts() : rows_to_experts(tokens());
  return of_modules({{Module::MlpNorm, tokens() / part * model_.config.hidden},
                     {Module::ExpertProduct, rows * model_.config.hidden},
                     {Module::MoeActivation, rows * (plan_.model.gated_mlp ? 2 : 1) * (form.expert_ffn / degree_of_experts())}});
}

// What the norm reads, what it puts out, and what both sides of the activation are.
Bytes StageWork::saved_by_feed_forward(LayerIndex layer) const {
  const ModelConfig& config = plan_.model;
  const std::int64_t part = plan_.sequence_parallel ? plan_.mesh.tensor : 1, stream = tokens() / part * model_.config.hidden,
                     inner = tokens() * sizes_of(config, layer.value() - 1).ffn / plan_.mesh.tensor;
  Saved all{{Module::Mlp, stream}, {Module::Mlp, habits_of(plan_.cluster).keeps_gathered ? stream * part : stream}, {Module::Mlp, inner}};
  if (config.gated_mlp || config.activation != Activation::Relu) all.emplace_back(Module::Mlp, inner * (config.gated_mlp ? 2 : 1));
  return of_modules(all);
}

// Behind the first blocks of a chunk that the plan asks for.
bool StageWork::stays(const TaskKey& forward) const {
  const int first = std::max(1, plan_.layers(stage_, forward.chunk).begin.value());
  return plan_.offload_blocks > 0 && forward.layer.value() >= first + plan_.offload_blocks;
}

// Of modules that the plan names, tensors that are large enough.
Bytes StageWork::of_modules(const Saved& all) const {
  Bytes sum{};
  for (const auto& [module, elements] : all)
    if (plan_.offload_modules.has(module) && elements >= plan_.offload_least) sum += element_ * elements;
  return sum;
}

void StageWork::leave(TaskKey key, Half half) {
  if (plan_.offload_modules.none() || key.phase != Phase::Forward || !is_block(key.layer) || !is_reached(model_, key.layer)) return;
  const bool is_plain = half == Half::FeedForward && !is_routed(key.layer);
  const Bytes payload = is_plain ? saved_by_feed_forward(key.layer) : half == Half::Mixer ? saved_by_mixer(key.layer) : saved_by_experts();
  if (payload == Bytes{} || comes_at_once(key) || stays(key)) return;
  key.sequence = segment_of(key.layer, half);
  key.operation = Operation::CopyToHost;
  left_[{{key.microbatch, key.slice}, key.layer, key.sequence}] = {add(key, payload, last_), payload};
}

// In front of what first reads it: the backward of its segment, or what is made again for that.
void StageWork::come(TaskKey key, Half half) {
  if (key.phase != Phase::Backward && key.phase != Phase::Recompute) return;
  key.sequence = segment_of(key.layer, half);
  const auto found = left_.find({{key.microbatch, key.slice}, key.layer, key.sequence});
  if (found == left_.end()) return;
  key.phase = Phase::Backward;
  key.operation = Operation::CopyToDevice;
  last_.push_back(add(key, found->second.second, {found->second.first}));
  left_.erase(found);
}

void StageWork::delayed_weights(MicrobatchIndex m) {
  const Turn turn{m, SliceIndex::none()};
  if (!is_mine(model_.head()) || m.value() >= plan_.delay_head_wgrad) return;
  last_ = {backwards_.at({turn, model_.head()})};
  say_word("head", at(turn, plan_.site(plan_.virtual_stage(model_.head())).chunk, model_.head(), Phase::Weight));
  weights_[{turn, model_.head()}] = last_.front();
  gradients_done_.push_back(last_.front());
}

}  // namespace sim
