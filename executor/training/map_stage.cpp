#include "executor/training/map_stage.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace executor {

MapStage::MapStage(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const ParameterStore& parameters)

    : plan_(plan), parameters_(parameters), begins_block_(model.layers.size()) {
  std::size_t begin = 0;  // the last layer that only hands on
  for (sim::LayerIndex at{0}; at <= model.head(); ++at) {
    layers_.emplace_back(model.layer(at), LayerParts{parameters.parameters(at), parameters.leaves(at)});
    if (layers_.back().is_empty()) begin = at.position();
    if (layers_.back().joins()) begins_block_[begin] = true;
  }
}

MapStage::Perform MapStage::find(const sim::TaskKey& key) {
  using enum sim::Phase;
  using enum sim::Operation;
  static constexpr auto kRows = std::to_array<Row>({
      {Forward, Convolution, &MapStage::forward},
      {Forward, Pointwise, &MapStage::forward},
      {Forward, BatchNorm, &MapStage::normalize},
      {Forward, Head, &MapStage::head},
      {Backward, Head, &MapStage::head_backward},
      {Backward, BatchNorm, &MapStage::sums},
      {Backward, Convolution, &MapStage::backward},
      {Backward, Pointwise, &MapStage::backward},
  });
  const auto row = std::ranges::find_if(kRows, [&](const Row& one) { return one.phase == key.phase && one.operation == key.operation; });
  return row == kRows.end() ? nullptr : row->perform;
}

void MapStage::perform(const sim::TaskKey& key, const MapStep& step) {
  const Perform function = find(key);
  if (function == nullptr) throw std::logic_error("no function performs task " + sim::to_text(key));
  (this->*function)(key, step);
}

void MapStage::forward(const sim::TaskKey& key, const MapStep& step) {
  if (key.layer == sim::LayerIndex(0)) flow_ = step.batch.images.select(0, key.microbatch.value());
  if (begins_block(key)) beside_ = flow_;
  const at::Tensor map = layer(key).before(layer(key).joins() ? std::exchange(beside_, {}) : flow_, kept(key));
  if (!layer(key).has_norm()) return finish(key, map);
  kept(key).norm.input = map;
  step.statistics = batch_moments(map);
  if (plan_.shares_statistics()) return;
  step.statistics.unsqueeze_(0);
  normalize(key, step);
}

void MapStage::normalize(const sim::TaskKey& key, const MapStep& step) {
  const BatchMoments moments = merged_moments(std::exchange(step.statistics, {}));
  parameters_.running(key.layer)->statistics.follow(moments);
  BatchNormResult result = batch_norm_forward(kept(key).norm.input, moments, layer(key).norm());
  kept(key).norm = std::move(result.kept);
  finish(key, layer(key).behind(std::move(result.output), kept(key)));
}

void MapStage::finish(const sim::TaskKey& key, at::Tensor map) { flow_ = layer(key).joins() ? flow_ + map : std::move(map); }

void MapStage::head(const sim::TaskKey& key, const MapStep& step) {
  Loss& loss = kept_loss_[key.microbatch];
  loss.entropy.logits = layer(key).before(std::exchange(flow_, {}), kept(key)).flatten(1);
  loss.entropy.targets = step.batch.targets.select(0, key.microbatch.value());
  loss.entropy.maximum = empty_maximum(loss.entropy.logits);
  const VocabularyShard classes{.first = 0, .real = loss.entropy.logits.size(1)};
  local_maximum(loss.entropy.maximum, loss.entropy.logits, classes);
  loss.sums = empty_sums(loss.entropy.logits);
  local_exponentials(loss.sums, loss.entropy, classes);
  step.losses.push_back(token_losses(loss.sums));
}

void MapStage::head_backward(const sim::TaskKey& key, const MapStep& step) {
  const Loss loss = kept_loss_.extract(key.microbatch).mapped();
  const at::Tensor& logits = loss.entropy.logits;
  loss_gradient_in_place(loss.entropy, loss.sums, {.first = 0, .real = logits.size(1)}, step.loss);
  flow_ = layer(key).before_backward(logits.unsqueeze(-1).unsqueeze(-1), kept(key));
  kept_.erase({key.layer, key.microbatch});
}

void MapStage::sums(const sim::TaskKey& key, const MapStep& step) {
  const at::Tensor through = layer(key).behind_backward(flow_, kept(key));
  step.statistics = batch_norm_sums(kept(key).norm, through, layer(key).norm());
  (layer(key).joins() ? beside_ : flow_) = through;
}

void MapStage::backward(const sim::TaskKey& key, const MapStep& step) {
  const bool joins = layer(key).joins();
  at::Tensor gradient = flow_;
  if (layer(key).has_norm()) {
    if (!plan_.shares_statistics()) sums(key, step);
    gradient = batch_norm_backward(kept(key).norm, {.output = joins ? beside_ : flow_, .sums = std::exchange(step.statistics, {})},
                                   layer(key).norm());
  }
  gradient = layer(key).before_backward(std::move(gradient), kept(key));
  (joins ? beside_ : flow_) = std::move(gradient);
  if (begins_block(key)) flow_ = flow_ + std::exchange(beside_, {});
  kept_.erase({key.layer, key.microbatch});
}

}  // namespace executor
