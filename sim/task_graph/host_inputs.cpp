#include "sim/task_graph/host_inputs.h"

#include <algorithm>
#include <vector>

#include "sim/task_graph/meetings.h"

namespace sim {
namespace {

struct Saved {
  Module by{};
  std::int64_t elements = 0;
};

std::vector<Saved> saved_by_attention(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment) {
  const ShardShape shape = of_tokens(segment.tokens(), model.config, plan.shard_shape());
  const SoftwareStack& habits = habits_of(plan.cluster);
  const Heads& heads = segment.attention()->heads;
  const AttentionWidths widths = attention_widths(heads, shape.tensor);
  const AttentionForm& form = model.config.attention;
  const std::int64_t tokens = shape.tokens(), local = shape.sequence_parallel ? tokens / shape.tensor : tokens,
                     scores = tokens * shape.sequence * (heads.queries / shape.tensor), out = tokens * widths.output;
  std::vector<Saved> all{{*sends_stream(model.config, segment), local * model.config.hidden},
                         {Module::QkvProduct, (habits.keeps_gathered ? tokens : local) * model.config.hidden},
                         {Module::CoreAttention, tokens * widths.query},
                         {Module::CoreAttention, tokens * widths.key},
                         {Module::CoreAttention, tokens * widths.value},
                         {Module::CoreAttention, writes_scores(attention_kernel(plan, habits)) ? scores : out},
                         {Module::AttentionProjection, out}};
  if (form.kind == AttentionKind::Latent)
    for (const std::int64_t width : {form.q_lora, form.kv_lora, form.q_lora, form.kv_lora})  // and their norms' outputs
      all.push_back({Module::QkvProduct, tokens * width});
  return all;
}

// Rows as they are sent: a rank has as many in the mean.
std::vector<Saved> saved_by_experts(const ModelConfig& config, const ParallelPlan& plan) {
  const ExpertForm& form = *config.experts;
  const ShardShape shape = plan.shard_shape();
  const std::int64_t local = shape.sequence_parallel ? shape.tokens() / shape.tensor : shape.tokens(), cut = plan.mesh.expert_cut(),
                     rows = rows_to_experts(form, RoutedTokens{tokens_to_route(plan)}) * (plan.mesh.cuts_experts_apart() ? cut : 1);
  return {{Module::MlpNorm, local * config.hidden},
          {Module::ExpertProduct, rows * config.hidden},
          {Module::MoeActivation, rows * (config.gated_mlp ? 2 : 1) * (form.expert_ffn / cut)}};
}

bool is_plain(const SegmentGraph& segment) { return segment.name == Operation::Mlp && !segment.has(OperatorKind::Routing); }

// What its norm reads and puts out, and what both sides of the activation are: a relu's backward reads what it put out.
std::vector<Saved> saved_by_feed_forward(const ModelConfig& config, const ParallelPlan& plan, const SegmentGraph& segment) {
  const ShardShape shape = plan.shard_shape();
  const std::int64_t tokens = shape.tokens(), local = shape.sequence_parallel ? tokens / shape.tensor : tokens;
  const std::int64_t inner = tokens * (std::ranges::find(segment.operators, "down", &Operator::name)->inputs / shape.tensor);
  std::vector<Saved> all{{Module::Mlp, local * config.hidden},
                         {Module::Mlp, (habits_of(plan.cluster).keeps_gathered ? tokens : local) * config.hidden},
                         {Module::Mlp, inner}};
  if (config.gated_mlp || config.activation != Activation::Relu) all.push_back({Module::Mlp, inner * (config.gated_mlp ? 2 : 1)});
  return all;
}

std::vector<Saved> saved_by(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment) {
  if (segment.attention()) return saved_by_attention(model, plan, segment);
  return is_plain(segment) ? saved_by_feed_forward(model.config, plan, segment) : saved_by_experts(model.config, plan);
}

}  // namespace

bool is_large_enough(const ParallelPlan& plan, Bytes tensor) { return tensor >= plan.bytes(Numbers::Activations) * plan.offload_least; }

std::optional<Module> sends_stream(const ModelConfig& config, const SegmentGraph& segment) {
  if (segment.has(OperatorKind::Routing)) return Module::MlpNorm;
  if (is_plain(segment)) return Module::Mlp;
  if (!segment.has(OperatorKind::Attention)) return std::nullopt;
  return config.attention.kind == AttentionKind::Latent ? Module::AttentionNorm : Module::QkvProduct;
}

Bytes inputs_on_host(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment) {
  Bytes all{};
  if (plan.offload_modules.none() || !sends_stream(model.config, segment)) return all;
  const Bytes element = plan.bytes(Numbers::Activations);
  for (const Saved& one : saved_by(model, plan, segment))
    if (plan.offload_modules.has(one.by) && is_large_enough(plan, element * one.elements)) all += element * one.elements;
  return all;
}

NextBackwards::NextBackwards(const ParallelPlan& plan, StageIndex stage) : stage_(stage) {
  const std::vector<StageAction> order = plan.order(stage);
  std::optional<StageAction> next;
  for (auto action = order.rbegin(); action != order.rend(); ++action) {
    const Action own{action->chunk, action->microbatch};
    if (action->kind == ActionKind::Forward && next && Action{next->chunk, next->microbatch} == own) comes_back_next_.insert(own);
    if (action->kind != ActionKind::Backward) continue;
    behind_[own] = next;
    next = *action;
  }
}

std::optional<StageAction> NextBackwards::behind(const StageAction& backward) const {
  const auto found = behind_.find({backward.chunk, backward.microbatch});
  return found == behind_.end() ? std::nullopt : found->second;
}

bool NextBackwards::keeps(const ParallelPlan& plan, ChunkIndex chunk, MicrobatchIndex microbatch, LayerIndex layer) const {
  const LayerRange range = plan.layers(stage_, chunk);
  const bool predicts_behind = range.end > plan.head() && plan.model.mtp_layers > 0 && !plan.model.predicts_apart();
  return !predicts_behind && layer.value() + 1 == std::min(range.end, plan.head()).value() &&
         comes_back_next_.contains({chunk, microbatch});
}

}  // namespace sim
