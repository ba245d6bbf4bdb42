#include "executor/training/pipeline_stage.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "executor/model/heads.h"

namespace executor {
namespace {

LayerParts parts_of(const ParameterStore& parameters, sim::LayerIndex layer) {
  return {parameters.parameters(layer), parameters.leaves(layer)};
}

SegmentSettings segment_settings(const sim::ParallelPlan& plan, TensorPosition tensor, at::TensorOptions options) {
  SegmentSettings settings{.sequence = plan.workload.sequence, .tensor = tensor, .rotary = {}};
  const HeadShape shape{.heads = 1, .kv_heads = 1, .head_dim = plan.model.head_dim, .sequence = plan.workload.sequence};
  if (plan.model.position == sim::Position::Rotary) settings.rotary = rotary_table(shape, plan.model.rope_theta, options);
  return settings;
}

}  // namespace

PipelineStage::PipelineStage(const sim::ModelGraph& model, const sim::ParallelPlan& plan, sim::Rank rank, ParameterStore& parameters)
    : plan_(plan),
      parameters_(parameters),
      tensor_(parameters.tensor()),
      hidden_(plan.model.hidden),
      loss_scale_(1.0 / static_cast<double>(plan.workload.global_batch * plan.workload.sequence)) {
  const sim::StageIndex stage = plan.mesh.coordinate(rank).stage;
  const SegmentSettings settings = segment_settings(plan, tensor_, parameters.buckets().front().weights().options());
  for (sim::LayerIndex layer{0}; layer <= model.head(); ++layer) {
    if (!plan.owns(stage, layer)) continue;
    const LayerParts parts = parts_of(parameters, layer);
    if (layer == sim::LayerIndex(0))
      embedding_.emplace(parts, settings);
    else if (layer == model.head())
      head_.emplace(plan.model, parts, tensor_);
    else
      blocks_.emplace(layer, Block{make_attention(plan.model, parts, settings), make_mlp(plan.model, parts)});
  }
}

// Which task is which function. Sequence-parallel tasks have no row: such plans are not runnable.
const PipelineStage::Row* PipelineStage::find_row(const sim::TaskKey& key) {
  using enum sim::Phase;
  using enum sim::Operation;
  static constexpr auto kRows = std::to_array<Row>({
      {Forward, Embedding, &PipelineStage::embedding},
      {Forward, EmbeddingPositions, &PipelineStage::embedding_positions},
      {Forward, Attention, &PipelineStage::segment},
      {Forward, AttentionResidual, &PipelineStage::segment_residual},
      {Forward, Mlp, &PipelineStage::segment},
      {Forward, MlpResidual, &PipelineStage::segment_residual},
      {Forward, Head, &PipelineStage::head},
      {Forward, HeadExponentials, &PipelineStage::head_exponentials},
      {Forward, HeadLoss, &PipelineStage::head_loss},
      {Recompute, Attention, &PipelineStage::segment_again},
      {Recompute, AttentionResidual, &PipelineStage::segment_again_residual},
      {Recompute, Mlp, &PipelineStage::segment_again},
      {Backward, Head, &PipelineStage::head_backward},
      {Backward, HeadNorm, &PipelineStage::head_norm_backward},
      {Backward, Mlp, &PipelineStage::segment_backward},
      {Backward, MlpNorm, &PipelineStage::segment_norm_backward},
      {Backward, Attention, &PipelineStage::segment_backward},
      {Backward, AttentionNorm, &PipelineStage::segment_norm_backward},
      {Backward, Embedding, &PipelineStage::embedding_backward},
  });
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [&](const Row& candidate) { return candidate.phase == key.phase && candidate.operation == key.operation; });
  return row == kRows.end() ? nullptr : row;
}

void PipelineStage::perform(const sim::TaskKey& key) {
  const Row* row = find_row(key);
  if (row == nullptr) throw std::logic_error("no function performs task " + sim::to_text(key));
  if (key.phase == sim::Phase::Backward) parameters_.start_gradients(key.layer);
  const c10::AutoGradMode unrecorded(false);  // pieces switch recording on for themselves
  (this->*row->perform)(key);
}

void PipelineStage::begin_step(StepBatch batch) {
  batch_ = std::move(batch);
  losses_.clear();
}

Dropout PipelineStage::dropout(double probability, const sim::TaskKey& key, std::string_view operation) const {
  if (probability <= 0) return {};
  const std::int64_t sample = batch_.first_sample + key.microbatch.value() * plan_.microbatch_size;
  return {.probability = probability,
          .key = random_key({plan_.training.seed, label_of("dropout"), static_cast<std::uint64_t>(batch_.step),
                             static_cast<std::uint64_t>(key.layer.value()), label_of(operation)}),
          .first_element = static_cast<std::uint64_t>(sample * plan_.workload.sequence * hidden_)};
}

Dropout PipelineStage::residual_dropout(const sim::TaskKey& key) const {
  return dropout(plan_.model.residual_dropout, key, part_of(key.operation) == Part::Attention ? "attention" : "mlp");
}
Dropout PipelineStage::embedding_dropout(const sim::TaskKey& key) const { return dropout(plan_.model.embedding_dropout, key, "embedding"); }

}  // namespace executor
