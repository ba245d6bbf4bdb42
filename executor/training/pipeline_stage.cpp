#include "executor/training/pipeline_stage.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "executor/model/distances.h"
#include "executor/model/rotary.h"
#include "executor/training/token_share.h"
#include "sim/model/distance_holder.h"

namespace executor {
namespace {

// What they are of; those of low-rank pairs by segment and end, in the order of pairs.
constexpr std::string_view kMasks[] = {"embedding",      "attention",       "mlp",      "scores",   "attention.in.0", "attention.in.1",
                                       "attention.in.2", "attention.out.0", "mlp.in.0", "mlp.in.1", "mlp.out.0"};

LayerParts parts_of(const ParameterStore& parameters, sim::LayerIndex layer) {
  return {parameters.parameters(layer), parameters.leaves(layer)};
}

RotaryTurns local_turns(sim::ModelConfig model) {
  if (model.local_rotary_share > 0) model.rotary_share = model.local_rotary_share;
  return unscaled_turns(sim::rotary_width(model), {model.local_rope_theta});
}

// Positions may turn otherwise in blocks that have a window.
at::Tensor rotary_of(const sim::ParallelPlan& plan, sim::Rank rank, sim::SliceIndex slice, bool is_local, at::TensorOptions options) {
  if (plan.model.position != sim::Position::Rotary) return {};
  const std::int64_t sequence = plan.workload.sequence;
  const RotaryTurns turns = is_local ? local_turns(plan.model) : rotary_turns(plan.model, sequence);
  return rotary_rows(rotary_table(turns, sequence, options), plan, rank, slice);
}

SegmentSettings segment_settings(const sim::ParallelPlan& plan, sim::Rank rank, sim::SliceIndex slice, TensorPosition tensor,
                                 at::TensorOptions options) {
  const bool deals_heads = plan.context_algorithm == sim::ContextAlgorithm::AllToAll;
  return {.sequence = plan.workload.sequence,
          .tokens = plan.workload.sequence / (plan.mesh.context * plan.slices),
          .tensor = tensor,
          .head_ranks = deals_heads ? plan.mesh.context : 1,
          .head_rank = deals_heads ? plan.mesh.context_rank(plan.mesh.coordinate(rank)) : 0,
          .stretches = stream_tokens(plan, rank, slice),
          .keeps_scores = !plan.recomputes_scores(),
          .rotary = rotary_of(plan, rank, slice, /*is_local=*/false, options),
          .adapter_scale = plan.model.adapters ? plan.model.adapters->scale() : 1,
          .attends_again = plan.recomputed_modules().has(sim::Module::CoreAttention),
          .passes_keys = slice.exists() || (plan.mesh.context > 1 && !deals_heads)};
}

SampleRows sample_rows(const sim::ModelConfig& config, sim::Tokens tokens, std::int64_t sequence) {
  if (!config.encoder) return {};
  const std::int64_t first = tokens == sim::Tokens::Target ? sim::tokens_in(sim::Tokens::Source, config, sequence) : 0;
  return {.sequence = sequence, .first = first, .count = sim::tokens_in(tokens, config, sequence)};
}

}  // namespace

SampleRows PipelineStage::rows_with_loss() const { return sample_rows(plan_.model, sim::Tokens::Target, plan_.workload.sequence); }

PipelineStage::PipelineStage(const sim::ModelGraph& model, const sim::ParallelPlan& plan, sim::Rank rank, ParameterStore& parameters)
    : plan_(plan),
      parameters_(parameters),
      tensor_(parameters.tensor()),
      hidden_(plan.model.hidden),
      loss_({.value = 1.0 / static_cast<double>(plan.workload.global_batch *
                                                sim::tokens_in(sim::Tokens::Target, plan.model, plan.workload.sequence))}) {
  const bool changes = plan.workload.precision.compute() == sim::Precision::Fp16;  // whenever gradients overflow, or have not for long
  if (changes && !parameters.device().is_cpu())
    loss_.there = at::full({}, loss_.value, at::TensorOptions().dtype(at::kDouble).device(parameters.device()));
  if (plan.model.convolution) {
    maps_.emplace(model, plan, parameters);
    return;
  }
  for (const sim::Layer& layer : model.layers) reach_.push_back(layer.backward);
  const sim::StageIndex stage = plan.mesh.coordinate(rank).stage;
  if (plan.owns(stage, model.head())) head_.emplace(plan.model, parts_of(parameters, model.head()), tensor_);
  if (plan.slices == 1) add_view(model, rank, sim::SliceIndex::none());
  for (sim::SliceIndex slice(0); plan.slices > 1 && slice.value() < plan.slices; ++slice) add_view(model, rank, slice);
}

void PipelineStage::add_view(const sim::ModelGraph& model, sim::Rank rank, sim::SliceIndex slice) {
  const at::ScalarType first = first_type(rank);
  Shared made = shared_by(first, rank, slice);
  const SegmentSettings settings = made.usual;
  View& view = views_.emplace_back(View{.stretches = settings.stretches,
                                        .core_tokens = rank_tokens(plan_, rank, slice),
                                        .shared = {{first, std::move(made)}},
                                        .embedding = {},
                                        .blocks = {}});
  for (sim::LayerIndex layer{0}; layer < model.head(); ++layer) {
    if (!plan_.owns(plan_.mesh.coordinate(rank).stage, layer)) continue;
    const LayerParts parts = parts_of(parameters_, layer);
    if (layer == sim::LayerIndex(0)) {
      SegmentSettings of_embedding = settings;
      of_embedding.rows = sample_rows(plan_.model, sim::Tokens::Target, settings.sequence);
      of_embedding.source = sample_rows(plan_.model, sim::Tokens::Source, settings.sequence);
      view.embedding.emplace(plan_.model, parts, of_embedding);
    } else {
      const at::ScalarType type = type_in(layer);
      if (!view.shared.contains(type)) view.shared.emplace(type, shared_by(type, rank, slice));
      const Shared& own = view.shared.at(type);
      view.blocks.emplace(layer, make_block(model, layer, parts, own));
    }
  }
}

// Of the blocks here.
at::ScalarType PipelineStage::first_type(sim::Rank rank) const {
  for (sim::LayerIndex layer{1}; layer.value() <= plan_.model.layers; ++layer)
    if (plan_.owns(plan_.mesh.coordinate(rank).stage, layer)) return type_in(layer);
  return type_between();
}

PipelineStage::Shared PipelineStage::shared_by(at::ScalarType type, sim::Rank rank, sim::SliceIndex slice) const {
  const at::TensorOptions options = parameters_.options().dtype(type);
  const SegmentSettings usual = segment_settings(plan_, rank, slice, tensor_, options);
  SegmentSettings windowed = usual;
  if (plan_.model.local_rope_theta > 0) windowed.rotary = rotary_of(plan_, rank, slice, /*is_local=*/true, options);
  return {.usual = usual, .windowed = std::move(windowed), .rank = rank, .slice = slice};
}

PipelineStage::Block PipelineStage::make_block(const sim::ModelGraph& model, sim::LayerIndex layer, const LayerParts& parts,
                                               const Shared& shared) {
  const std::int64_t window = sim::window_of(model.config, layer.value() - 1);
  SegmentSettings settings = window > 0 ? shared.windowed : shared.usual;
  settings.window = window;
  if (!model.config.unturned.empty() && sim::at(model.config.unturned, layer.value() - 1)) settings.rotary = at::Tensor();
  if (model.config.encoder) {
    const std::int64_t block = layer.value() - 1;
    settings.rows = sample_rows(model.config, sim::rows_of(model.config, block), settings.sequence);
    if (sim::attends_to_source(model.config, block)) settings.source = sample_rows(model.config, sim::Tokens::Source, settings.sequence);
    if (const sim::LayerIndex holder = sim::holder_of_distances(model.config, layer); holder.exists()) {
      settings.distances = find_leaf(parts_of(parameters_, holder), ".attention.distances.weight");
      settings.columns = columns_of(settings.rows);
    }
  }
  const sim::ModelConfig config = sim::in_block(model.config, layer.value() - 1);
  std::optional<Experts> experts;
  if (model.has(layer, sim::Operation::Experts)) experts.emplace(config, parts, settings.tensor);
  const ContextShape context =
      context_shape(plan_, shared.rank, {config, settings.rotary, score_form(config, parts, settings)}, shared.slice);
  return {make_attention(config, parts, settings), make_mlp(config, parts, settings), std::move(experts), context};
}

// Those of a stack, made once.
at::Tensor PipelineStage::columns_of(const SampleRows& rows) {
  at::Tensor& columns = columns_[rows.first];
  if (columns.defined()) return columns;
  const sim::EncoderForm& form = *plan_.model.encoder;
  return columns = distance_buckets({.buckets = form.relative_buckets, .farthest = form.farthest, .both_ways = rows.first == 0}, rows.count,
                                    parameters_.device());
}

// Which task is which function. Norms in front of segments, and residual sums backward, are tasks of their own where ranks share the sequence.
const PipelineStage::Row* PipelineStage::find_row(const sim::TaskKey& key) {
  using enum sim::Phase;
  using enum sim::Operation;
  using Stage = PipelineStage;
  constexpr bool kAgain = true;  // to recompute is to compute
  static constexpr auto kRows = std::to_array<Row>({
      {Forward, Embedding, &Stage::embedding},
      {Forward, EmbeddingPositions, &Stage::embedding_positions},
      {Forward, AttentionNorm, &Stage::segment_norm, kAgain},
      {Forward, Attention, &Stage::segment, kAgain},
      {Forward, AttentionInput, &Stage::attention_input, kAgain},
      {Forward, AttentionHeads, &Stage::attention_heads, kAgain},
      {Forward, AttentionScores, &Stage::attention_scores, kAgain},
      {Forward, AttentionOutput, &Stage::attention_output, kAgain},
      {Forward, AttentionResidual, &Stage::segment_residual, kAgain},
      {Forward, MlpNorm, &Stage::segment_norm, kAgain},
      {Forward, Mlp, &Stage::segment, kAgain},
      {Forward, ExpertInput, &Stage::expert_input, kAgain},
      {Forward, Experts, &Stage::experts, kAgain},
      {Forward, ExpertOutput, &Stage::expert_output, kAgain},
      {Forward, MlpResidual, &Stage::segment_residual, kAgain},
      {Forward, HeadNorm, &Stage::head_norm},
      {Forward, Head, &Stage::head},
      {Forward, HeadExponentials, &Stage::head_exponentials},
      {Forward, HeadLoss, &Stage::head_loss},
      {Backward, Head, &Stage::head_backward},
      {Backward, HeadNorm, &Stage::head_norm_backward},
      {Backward, MlpResidual, &Stage::segment_residual_backward},
      {Backward, Mlp, &Stage::segment_backward},
      {Backward, ExpertOutput, &Stage::expert_output_backward},
      {Backward, Experts, &Stage::experts_backward},
      {Backward, ExpertInput, &Stage::expert_input_backward},
      {Backward, MlpNorm, &Stage::segment_norm_backward},
      {Backward, AttentionResidual, &Stage::segment_residual_backward},
      {Backward, Attention, &Stage::segment_backward},
      {Backward, AttentionOutput, &Stage::attention_output_backward},
      {Backward, AttentionScores, &Stage::attention_scores},
      {Backward, AttentionHeads, &Stage::attention_heads_backward},
      {Backward, AttentionInput, &Stage::attention_input_backward},
      {Backward, AttentionNorm, &Stage::segment_norm_backward},
      {Backward, EmbeddingPositions, &Stage::embedding_positions_backward},
      {Backward, Embedding, &Stage::embedding_backward},
      {Weight, Head, &Stage::weights},
      {Weight, Mlp, &Stage::weights},
      {Weight, Experts, &Stage::weights},
      {Weight, Attention, &Stage::weights},
  });
  const auto row = std::ranges::find_if(kRows, [&](const Row& candidate) {
    const bool is_phase = candidate.phase == key.phase || (candidate.recomputes && key.phase == Recompute);
    return is_phase && candidate.operation == key.operation;
  });
  return row == kRows.end() ? nullptr : row;
}

void PipelineStage::perform(const sim::TaskKey& key) {
  const c10::AutoGradMode unrecorded(false);  // pieces switch recording on for themselves
  if (maps_) {
    if (key.phase == sim::Phase::Backward) parameters_.start_gradients(key.layer);
    return maps_->perform(key, {.batch = batch_, .statistics = partial_, .losses = losses_, .loss = loss_});
  }
  const Row* row = find_row(key);
  if (row == nullptr) throw std::logic_error("no function performs task " + sim::to_text(key));
  turn_to(key);
  if (key.phase == sim::Phase::Backward) {
    parameters_.start_gradients(key.layer);
    if (const sim::LayerIndex holder = sim::holder_of_distances(plan_.model, key.layer); holder.exists())
      parameters_.start_gradients(holder);
  }
  (this->*row->perform)(key);
}

// In a V the last stage's chunks follow each other: the flow waits here until the next one's turn. Of two that take turns each waits here.
void PipelineStage::turn_to(const sim::TaskKey& key) {
  if (key.phase == sim::Phase::Weight || maps_) return;
  const Visit now{.forward = key.phase == sim::Phase::Forward, .chunk = key.chunk, .piece = piece(key)};
  if (now == visit_) return;
  if (flow_.value.defined() || partial_.defined())
    aside_[{visit_.forward, visit_.piece}] = {.flow = std::exchange(flow_, {}), .partial = std::exchange(partial_, {})};
  visit_ = now;
  const auto waiting = aside_.find({now.forward, now.piece});
  if (waiting == aside_.end()) return;
  Aside own = aside_.extract(waiting).mapped();
  flow_ = std::move(own.flow);
  partial_ = std::move(own.partial);
}

at::Tensor& PipelineStage::partial(const sim::TaskKey& key) {
  turn_to(key);
  return partial_;
}

at::Tensor PipelineStage::take_flow(const sim::TaskKey& key) {
  turn_to(key);
  return std::exchange(flow_, {}).value;
}

at::Tensor PipelineStage::tokens(const at::Tensor& all, const sim::TaskKey& key) const {
  const at::Tensor of_microbatch = all.select(0, key.microbatch.value());
  if (!key.slice.exists()) return of_microbatch;
  const std::int64_t count = plan_.workload.sequence / plan_.slices;
  return of_microbatch.view({plan_.microbatch_size, -1}).narrow(1, key.slice.value() * count, count).reshape({-1});
}

void PipelineStage::put_flow(at::Tensor received, const sim::TaskKey& key) {
  turn_to(key);
  flow_ = {.value = std::move(received), .addend = {}};
}

void PipelineStage::begin_step(StepBatch batch) {
  const StepBatch before = std::exchange(batch_, std::move(batch));
  const auto put = [&](at::Tensor& rows, const at::Tensor& place) {
    const bool has_place = place.defined() && !place.is_cpu();
    rows = has_place ? place.copy_(rows) : rows.to(parameters_.device());
  };
  put(batch_.ids, before.ids);
  put(batch_.targets, before.targets);
  for (at::Tensor& tokens : batch_.without_loss) tokens = tokens.to(parameters_.device());
  stream_places_.clear();
  const std::int64_t rows = plan_.shard_shape().tokens() / (shares_sequence() ? tensor_.degree : 1);
  for (const TokenStretches& own : batch_.places)
    stream_places_.push_back(rows_of(own, {.begin = shares_sequence() ? tensor_.rank * rows : 0, .count = rows}));
  put_mask_keys();
}

void PipelineStage::set_loss_factor(double factor) {
  const bool is_new = factor != loss_.value;
  loss_.value = factor;
  if (is_new && loss_.there.defined()) loss_.there.fill_(factor);
}

RandomKey PipelineStage::mask_key(sim::LayerIndex layer, std::string_view operation, std::int64_t step) const {
  return random_key({plan_.training.seed, label_of("dropout"), static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(layer.value()),
                     label_of(operation)});
}

void PipelineStage::put_mask_keys() {
  const sim::ModelConfig& model = plan_.model;
  const bool drops = model.residual_dropout > 0 || model.embedding_dropout > 0 || model.attention_dropout > 0 ||
                     (model.adapters && model.adapters->dropout > 0);
  if (!drops || parameters_.device().is_cpu()) return;
  const at::Tensor keys = at::empty({model.layers + 2, static_cast<std::int64_t>(std::size(kMasks))}, at::kLong);
  auto* next = keys.data_ptr<std::int64_t>();
  for (sim::LayerIndex layer{0}; layer.value() < model.layers + 2; ++layer)
    for (const std::string_view operation : kMasks) *next++ = static_cast<std::int64_t>(mask_key(layer, operation, batch_.step).value);
  mask_keys_ = mask_keys_.defined() ? mask_keys_.copy_(keys) : keys.to(parameters_.device());
}

Dropout PipelineStage::dropout(double probability, const sim::TaskKey& key, std::string_view operation, std::int64_t elements) const {
  if (probability <= 0) return {};
  const std::int64_t sample = batch_.first_sample + key.microbatch.value() * plan_.microbatch_size;
  const auto kind = std::find(std::begin(kMasks), std::end(kMasks), operation) - std::begin(kMasks);
  return {.probability = probability,
          .key = mask_key(key.layer, operation, batch_.step),
          .first_element = static_cast<std::uint64_t>(sample * elements),
          .key_there = mask_keys_.defined() ? mask_keys_.select(0, key.layer.value()).select(0, kind) : at::Tensor()};
}

Dropout PipelineStage::stream_dropout(double probability, const sim::TaskKey& key, std::string_view operation) const {
  Dropout result = dropout(probability, key, operation, plan_.workload.sequence * hidden_);
  result.stretches = stream_places(key);
  return result;
}

const TokenStretches& PipelineStage::core_tokens(const sim::TaskKey& key) const {
  return batch_.places.empty() ? view(key).core_tokens : batch_.places[key.microbatch.position()];
}

const TokenStretches& PipelineStage::stream_places(const sim::TaskKey& key) const {
  return batch_.places.empty() ? view(key).stretches : stream_places_[key.microbatch.position()];
}

const Documents& PipelineStage::documents_of(const sim::TaskKey& key) const {
  static const Documents kNone;
  return batch_.documents.empty() ? kNone : batch_.documents[key.microbatch.position()];
}

Dropout PipelineStage::residual_dropout(const sim::TaskKey& key) const {
  return stream_dropout(plan_.model.residual_dropout, key, part_of(key.operation) == Part::Attention ? "attention" : "mlp");
}
Dropout PipelineStage::embedding_dropout(const sim::TaskKey& key) const {
  return stream_dropout(plan_.model.embedding_dropout, key, "embedding");
}
Dropout PipelineStage::score_dropout(const sim::TaskKey& key) const {
  if (part_of(key.operation) != Part::Attention) return {};
  const BlockSegment& segment = segment_of(key);
  const std::int64_t sequence = plan_.workload.sequence, queries = segment.rows().are_all() ? sequence : segment.rows().count;
  const std::int64_t keys = segment.reads_all() ? sim::tokens_in(sim::Tokens::Source, plan_.model, sequence) : queries;
  const std::int64_t pairs = queries * keys;
  const std::int64_t heads = sim::sizes_of(plan_.model, key.layer.value() - 1).heads;
  return dropout(plan_.model.attention_dropout, key, "scores", heads * pairs);
}

// As rows of all inputs of a pair, so that a mask is the same however tensor ranks cut them.
PairMasks PipelineStage::pair_masks(const sim::TaskKey& key, End end) const {
  PairMasks masks;
  if (!plan_.model.adapters || plan_.model.adapters->dropout <= 0) return masks;
  const std::string prefix =
      fmt::format("{}.{}.", part_of(key.operation) == Part::Attention ? "attention" : "mlp", end == End::In ? "in" : "out");
  const std::int64_t inputs = segment_of(key).inputs(end);
  for (std::size_t pair = 0; pair < masks.size(); ++pair) {
    const std::string name = prefix + std::to_string(pair);
    if (std::ranges::find(kMasks, name) == std::end(kMasks)) break;
    masks.at(pair) = dropout(plan_.model.adapters->dropout, key, name, plan_.workload.sequence * inputs);
    masks.at(pair).stretches = core_tokens(key);
  }
  return masks;
}

CoreInputs PipelineStage::core_inputs(const sim::TaskKey& key) const {
  return {.scores = score_dropout(key),
          .in = pair_masks(key, End::In),
          .out = pair_masks(key, End::Out),
          .positions = documents_of(key),
          .attended = documents_of(key)};
}

}  // namespace executor
