#include "sim/cost/segment_sizes.h"

#include <algorithm>

#include "sim/clock/kernel_setting.h"

namespace sim {
namespace {

std::int64_t window_of(const SegmentGraph& segment) { return segment.attention() ? segment.attention()->window : 0; }

std::int64_t ffn_of(const ModelConfig& config, const SegmentGraph& segment) {
  const auto down = std::ranges::find(segment.operators, "down", &Operator::name);
  return down == segment.operators.end() ? config.ffn : down->inputs;
}

bool trains(const ModelConfig& config, const Operator& op) { return !op.frozen || adapter_pairs(config, op).pairs > 0; }

bool trains_end(const ModelConfig& config, const SegmentGraph& segment, bool last) {
  const auto is_product = [](const Operator& op) { return op.kind == OperatorKind::Linear && op.adapter == AdapterPart::None; };
  if (!last)
    return std::ranges::any_of(segment.operators, [&](const Operator& op) {
      const bool reads_norm = op.inputs == config.hidden && op.split != TensorSplit::Columns;  // the last one's input may be as wide
      return is_product(op) && reads_norm && trains(config, op);
    });
  const auto found = std::find_if(segment.operators.rbegin(), segment.operators.rend(), is_product);
  return found != segment.operators.rend() && trains(config, *found);
}

std::int64_t narrow_read(const ModelConfig& config, const SegmentGraph& segment) {
  std::int64_t all = 0;
  for (const Operator& op : segment.operators)
    if ((op.name == "q_up" || op.name == "kv_up") && trains(config, op)) all += op.inputs;
  return all;
}

// The last product is of the part that the segment is named by.
bool is_unscaled(const SegmentGraph& segment) {
  const auto last = std::ranges::find(segment.operators.rbegin(), segment.operators.rend(), OperatorKind::Linear, &Operator::kind);
  return last == segment.operators.rend() || last->unscaled;
}

// torch.compile cuts a block's program where the fewest bytes cross from its forward to its backward (min_cut_rematerialization_partition): behind a cast. What
// is kept of blocks that are made again operator by operator is said by a list instead.
bool cuts_behind_casts(const ParallelPlan& plan) {
  const SoftwareStack& habits = habits_of(plan.cluster);
  return habits.compiled && habits.by_operator && !plan.recomputed_modules().has(Module::Op);
}

// Adapters beside a product read its input in 16 bit.
double share_of_read(const ModelConfig& config, const ParallelPlan& plan, const SegmentGraph& segment, Bytes element) {
  const std::optional<ScaleRecipe> scales = plan.workload.precision.scales();
  const bool keeps_rounded = habits_of(plan.cluster).keeps_scaled_inputs || cuts_behind_casts(plan);
  if (!scales || config.adapters || is_unscaled(segment) || !keeps_rounded) return 1;
  return kept_bytes(*scales) / real(element.value());
}

}  // namespace

bool routes_parts(const ParallelPlan& plan, const SegmentGraph& segment) {
  return plan.mesh.cuts_experts_apart() && segment.has(OperatorKind::Routing) && plan.model.experts->shared_ffn == 0;
}

Bytes stream_of(const ParallelPlan& plan) { return plan.bytes(Numbers::Activations) * (plan.shard_shape().tokens() * plan.model.hidden); }

Bytes largest_weight(const SegmentSizes& size, const SegmentGraph& segment, const DeviceMesh& mesh) {
  std::int64_t most = 0;
  for (const Operator& op : segment.operators)
    if (op.kind == OperatorKind::Linear)
      most = std::max(most, op.inputs * op.outputs /
                                (op.split == TensorSplit::None ? 1
                                 : op.experts > 0              ? mesh.expert_cut()
                                                               : mesh.tensor));
  return size.element * most;
}

SegmentSizes segment_sizes(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment) {
  const ModelConfig& config = model.config;
  const ShardShape shape = of_tokens(segment.tokens(), config, plan.shard_shape()),
                   keys = segment.reads_source() ? of_tokens(Tokens::Source, config, plan.shard_shape()) : shape;
  const Bytes element = plan.bytes(Numbers::Activations);
  const Heads head = segment.attention() ? segment.attention()->heads : heads_of(config);
  const AttentionWidths widths = attention_widths(head, shape.tensor);
  const std::int64_t local_tokens = shape.sequence_parallel ? shape.tokens() / shape.tensor : shape.tokens();
  const std::int64_t kept_tokens = habits_of(plan.cluster).keeps_gathered && !routes_parts(plan, segment) ? shape.tokens() : local_tokens;
  return {.tokens = shape.tokens(),
          .local_tokens = local_tokens,
          .key_tokens = keys.tokens(),
          .normalized = element * (kept_tokens * config.hidden),
          .rows = element * (local_tokens * config.hidden),
          .queries = shape.sequence,
          .sequence = keys.sequence,
          .query = widths.query,
          .key_value = widths.key + widths.value,
          .output = widths.output,
          .heads = head.queries / shape.tensor,
          .ffn = ffn_of(config, segment) / shape.tensor,
          .vocabulary = model.padded_vocabulary / shape.tensor,
          .window = window_of(segment),
          .head = head,
          .is_causal = !config.bidirectional && !segment.reads_source() && segment.tokens() != Tokens::Source,
          .reads_source = segment.reads_source(),
          .element = element,
          .statistic = std::max(element, Bytes(4)),
          .keeps_first = trains_end(config, segment, false),
          .keeps_last = trains_end(config, segment, true),
          .narrow_read = narrow_read(config, segment),
          .rounded = share_of_read(config, plan, segment, element)};
}

}  // namespace sim
