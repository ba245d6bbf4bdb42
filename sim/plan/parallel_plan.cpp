#include "sim/plan/parallel_plan.h"

#include <algorithm>

#include "sim/plan/stage_layers.h"
#include "sim/units/at.h"

namespace sim {

// The words are the names of kernels, in their order, behind one that names none.
static_assert(std::equal(std::begin(kAttentionWords) + 1, std::end(kAttentionWords), std::begin(kAttentionKernelNames),
                         std::end(kAttentionKernelNames)));

AttentionKernel attention_kernel(const ParallelPlan& plan, const SoftwareStack& habits) {
  if (plan.attention == AttentionWord::AsTheProgram) return attention_kernel(habits);
  return static_cast<AttentionKernel>(static_cast<int>(plan.attention) - 1);
}

std::int64_t ParallelPlan::num_microbatches() const { return workload.global_batch / (mesh.data * microbatch_size); }

std::int32_t ParallelPlan::head_ranks() const {
  if (context_algorithm == ContextAlgorithm::AllToAll) return mesh.context;
  return context_algorithm == ContextAlgorithm::Hierarchical ? mesh.context_inner : 1;
}

PipelineShape ParallelPlan::pipeline_shape() const {
  return {.stages = mesh.pipeline,
          .microbatches = static_cast<std::int32_t>(num_microbatches()),
          .chunks = chunks,
          .group = microbatch_group,
          .slices = slices};
}

PipelineShape ParallelPlan::pass_shape() const {
  PipelineShape shape = pipeline_shape();
  shape.microbatches /= passes;
  return shape;
}

ShardShape ParallelPlan::shard_shape() const {
  return {.microbatch = microbatch_size,
          .sequence = workload.sequence,
          .tensor = mesh.tensor,
          .sequence_parallel = sequence_parallel,
          .context = mesh.context,
          .expert = mesh.expert,
          .slices = slices};
}

// Of a microbatch a layer holds 34 h + 5 a s bytes a token, the last of them scores; 32 h are what its weights' gradients read (Korthikanti et al. 2022,
// as Qi et al. 2024 count it). Recomputed blocks are whole again when they wait.
std::int32_t ParallelPlan::percent_waiting() const {
  const bool keeps_scores =
      writes_scores(attention_kernel(*this, habits_of(cluster))) && !recomputes_scores() && recompute != Recompute::Full;
  if (!keeps_scores) return 100;
  const std::int64_t scores = 5 * model.heads * workload.sequence / mesh.context;
  return static_cast<std::int32_t>(std::max<std::int64_t>(50, 3200 * model.hidden / (34 * model.hidden + scores)));
}

namespace {

std::vector<StageAction> scheduled(const ParallelPlan& plan, StageIndex stage) {
  if (plan.written_order) return plan.written_order->stages[stage.position()];
  const Schedule& row = *find_schedule(plan.schedule);
  PipelineShape shape = plan.pass_shape();
  if (row.splits_backward) shape.waiting = plan.percent_waiting();
  std::vector<StageAction> order = row.order(shape, stage);
  const std::size_t of_a_pass = order.size();
  order.reserve(of_a_pass * count_of(std::int64_t{plan.passes}));
  for (std::int32_t pass = 1; pass < plan.passes; ++pass)
    for (std::size_t at = 0; at < of_a_pass; ++at) {
      order.push_back(order[at]);
      order.back().microbatch = MicrobatchIndex(order[at].microbatch.value() + pass * shape.microbatches);
    }
  return order;
}

}  // namespace

std::vector<StageAction> ParallelPlan::order(StageIndex stage) const {
  std::vector<StageAction> own = scheduled(*this, stage);
  if (!delay_wgrad || order_splits_backward()) return own;
  std::vector<StageAction> split;
  for (const StageAction& action : own) {
    split.push_back(action);
    if (action.kind == ActionKind::Backward) split.push_back({ActionKind::Weight, action.microbatch, action.chunk, action.slice});
  }
  return split;
}
bool ParallelPlan::splits_backward() const { return delay_wgrad || order_splits_backward(); }
bool ParallelPlan::order_splits_backward() const {
  const Schedule* row = find_schedule(schedule);
  return written_order ? written_order->splits_backward : row != nullptr && row->splits_backward;
}
ActionKind ParallelPlan::completes_gradients() const { return splits_backward() ? ActionKind::Weight : ActionKind::Backward; }
ChunkPlacement ParallelPlan::placement() const {
  const Schedule* row = find_schedule(schedule);
  return written_order ? written_order->placement : row != nullptr ? row->placement : ChunkPlacement::Loop;
}
OrderTable ParallelPlan::order_table() const {
  OrderTable table{.stages = {},
                   .chunks = chunks,
                   .microbatches = pipeline_shape().microbatches,
                   .splits_backward = order_splits_backward(),
                   .placement = placement()};
  for (StageIndex stage(0); stage.value() < mesh.pipeline; ++stage) table.stages.push_back(scheduled(*this, stage));
  return table;
}
void ParallelPlan::take_order(OrderTable table) {
  schedule = kOrderFromCsv;
  if (chunks != table.chunks) cut = even_cut(model.inner_layers(), {.stages = mesh.pipeline, .microbatches = 1, .chunks = table.chunks});
  chunks = table.chunks;
  written_order = std::move(table);
}

std::int32_t ParallelPlan::virtual_stage(ChunkSite site) const { return sim::virtual_stage(placement(), pipeline_shape(), site); }
std::int32_t ParallelPlan::virtual_stage(LayerIndex layer) const {
  const auto behind = std::upper_bound(cut.first.begin(), cut.first.end(), layer);
  return static_cast<std::int32_t>(behind - cut.first.begin()) - 1;
}
ChunkSite ParallelPlan::site(std::int32_t virtual_stage) const { return site_of(placement(), pipeline_shape(), virtual_stage); }

LayerRange ParallelPlan::layers(StageIndex stage, ChunkIndex chunk) const { return StageLayers(*this).of(stage, chunk); }

LayerRange ParallelPlan::part_of(LayerIndex layer) const {
  const std::int32_t part = virtual_stage(layer);
  const std::size_t next = count_of(std::int64_t{part} + 1);
  return {.begin = part < 0 ? LayerIndex(0) : cut.first[next - 1],
          .end = next < cut.first.size() ? cut.first[next] : LayerIndex(head().value() + 1)};
}

bool ParallelPlan::owns(StageIndex stage, LayerIndex layer) const {
  for (ChunkIndex chunk{0}; chunk.value() < chunks; ++chunk) {
    const LayerRange range = layers(stage, chunk);
    if (range.begin <= layer && layer < range.end) return true;
  }
  return false;
}

Bytes ParallelPlan::message_into(LayerIndex reader) const {
  const Bytes all = bytes_into(reader) * (shard_shape().tokens() * model.hidden * streams_into(reader));
  return sequence_parallel ? all / std::int64_t{mesh.tensor} : all;
}

// The head's is the last one, whatever the cut, which a search may still have of another mesh.
StageIndex ParallelPlan::reader_stage() const {
  const std::int32_t last = num_virtual_stages() - 1;
  return site(model.predicts_apart() ? std::clamp(virtual_stage(embedding_reader()), 0, last) : last).stage;
}

ModelGraph make_model_graph(const ModelConfig& model, VocabularyMultiple multiple, const PrecisionPolicy& precision) {
  ModelGraph graph = make_model_graph(model, multiple);
  leave_unscaled(graph, precision.unscaled_parts());
  if (precision.scales_head()) scale_head(graph);
  if (precision.full_blocks().empty() && precision.unscaled_blocks().empty()) return graph;
  const std::int64_t blocks = graph.num_blocks();
  std::vector<int> parts;  // of a unit in full precision: whether its neighbours are, too
  const auto full = [&](int layer) { return precision.is_full_layer(LayerIndex(layer), blocks) ? 1 : 0; };
  for (int layer = 0; layer <= graph.head().value(); ++layer)
    parts.push_back(full(layer) * (1 + 2 * full(layer - 1) + 4 * full(layer + 1)) + (has(precision.unscaled_blocks(), layer - 1) ? 8 : 0));
  part_kinds(graph, parts);
  return graph;
}

ModelGraph make_model_graph(const ParallelPlan& plan) {
  return make_model_graph(plan.model, VocabularyMultiple{plan.vocabulary_multiple}, plan.workload.precision);
}

ParallelPlan in_full_precision(ParallelPlan plan) {
  plan.workload.precision = Precision::Fp32;
  return plan;
}

std::optional<ParallelPlan> plan_of_units_apart(const ParallelPlan& plan) {
  if (plan.workload.precision.has_full_units()) return in_full_precision(plan);
  if (plan.workload.precision.unscaled_blocks().empty()) return std::nullopt;
  ParallelPlan unscaled = plan;
  unscaled.workload.precision = plan.workload.precision.without_scales();
  return unscaled;
}

StageCut even_cut(std::int64_t inner_layers, PipelineShape shape) {
  const std::int64_t parts = std::int64_t{shape.stages} * shape.chunks;
  StageCut cut;
  cut.first.reserve(count_of(parts));
  const std::int64_t ends = std::max<std::int64_t>(0, parts - inner_layers);  // that stand alone: first the head, then the embedding, too
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t before = ends == 0 ? inner_layers * part / parts : ends == 1 ? part : part - 1;
    cut.first.push_back(LayerIndex(part == 0 ? 0 : static_cast<std::int32_t>(1 + before)));
  }
  return cut;
}

namespace {
std::int32_t block_in_part(const ParallelPlan& plan, LayerIndex layer) {
  return layer.value() - std::max(1, plan.part_of(layer).begin.value());
}
}  // namespace

bool ParallelPlan::recomputes(LayerIndex layer, MicrobatchIndex microbatch) const {
  const bool is_inner = LayerIndex(0) < layer && layer < head();
  if (!is_inner || recompute != Recompute::Full) return false;
  if (recompute_scope.but_last && microbatch.value() == num_microbatches() - 1) return false;
  return recompute_scope.holds_for_block(block_in_part(*this, layer), site(virtual_stage(layer)).stage);
}

bool ParallelPlan::sends_modules(LayerIndex layer) const {
  const bool is_block = LayerIndex(0) < layer && layer < head();
  return !offload_modules.none() && is_block && (offload_blocks == 0 || block_in_part(*this, layer) < offload_blocks);
}

bool ParallelPlan::makes_input_again(LayerIndex layer, MicrobatchIndex microbatch) const {
  if (recompute_scope.together == 1 || layer >= head()) return false;
  return recomputes(layer, microbatch) && block_in_part(*this, layer) % recompute_scope.together != 0;
}

}  // namespace sim
