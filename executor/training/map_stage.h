// The computing half of one rank of a convolutional network: as PipelineStage, layer by layer of maps (executor/model/map_layer.h).
//
//   sync_batch_norm, D > 1   forward    convolution or pointwise  ~~rows of moments~~>  batch_norm
//                            backward   batch_norm  ~~sums~~>  convolution or pointwise
//   else each layer is one task in each direction.
//
// What a block began with waits beside the flow for the layer that adds it; on the way back its gradient waits for the layer where the block begins.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "executor/kernels/cross_entropy.h"
#include "executor/model/map_layer.h"
#include "executor/training/batch.h"
#include "executor/training/parameter_store.h"
#include "sim/task_graph/task.h"

namespace executor {

// Of the stage that it is a part of.
struct MapStep {
  const StepBatch& batch;
  at::Tensor& statistics;           // what ranks exchange: a row [n] that comes back as rows [ranks, n]; or sums, in place
  std::vector<at::Tensor>& losses;  // [samples] of each microbatch
  LossFactor loss;                  // of the loss of one image
};

class MapStage {
 public:
  MapStage(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const ParameterStore& parameters);

  void perform(const sim::TaskKey& key, const MapStep& step);  // one compute task

 private:
  using Perform = void (MapStage::*)(const sim::TaskKey&, const MapStep&);
  struct Row {
    sim::Phase phase;
    sim::Operation operation;
    Perform perform;
  };
  static Perform find(const sim::TaskKey& key);  // nullptr: none
  void forward(const sim::TaskKey& key, const MapStep& step);
  void normalize(const sim::TaskKey& key, const MapStep& step);
  void finish(const sim::TaskKey& key, at::Tensor map);
  void head(const sim::TaskKey& key, const MapStep& step);
  void head_backward(const sim::TaskKey& key, const MapStep& step);
  void sums(const sim::TaskKey& key, const MapStep& step);
  void backward(const sim::TaskKey& key, const MapStep& step);

  const MapLayer& layer(const sim::TaskKey& key) const { return layers_[key.layer.position()]; }
  MapActivations& kept(const sim::TaskKey& key) { return kept_[{key.layer, key.microbatch}]; }
  bool begins_block(const sim::TaskKey& key) const { return begins_block_[key.layer.position()]; }

  const sim::ParallelPlan& plan_;
  const ParameterStore& parameters_;
  std::vector<MapLayer> layers_;
  std::vector<bool> begins_block_;
  std::map<std::pair<sim::LayerIndex, sim::MicrobatchIndex>, MapActivations> kept_;
  struct Loss {
    CrossEntropyTargets entropy;
    at::Tensor sums;
  };
  std::map<sim::MicrobatchIndex, Loss> kept_loss_;
  at::Tensor flow_;    // the map that goes forward, the gradient that goes back
  at::Tensor beside_;  // what the block began with; its gradient
};

}  // namespace executor
