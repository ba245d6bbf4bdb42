// All parameters of one rank's stage: its buckets, and for each layer the leaves that the model's pieces read and add to.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/model/batch_norm.h"
#include "executor/model/initial_values.h"
#include "executor/training/flat_bucket.h"
#include "executor/training/scale_history.h"
#include "sim/plan/parallel_plan.h"

namespace executor {

class ParameterStore {
 public:
  ParameterStore(const sim::ModelGraph& model, const sim::ParallelPlan& plan, sim::Rank rank, c10::Device device);

  void fill_initial_values();  // of all resident weights
  void fill_trained_values();  // likewise, of those that are not frozen
  // All that this rank has of a parameter, from the whole of it, [rows, columns] on the host.
  void put_whole(FlatBucket& bucket, const sim::BucketSlot& slot, const at::Tensor& whole);
  std::vector<FlatBucket>& buckets() { return buckets_; }
  const std::vector<FlatBucket>& buckets() const { return buckets_; }
  ScaleHistory& scale_history() { return scales_; }                             // of products whose scales come from steps before
  void ask_by(RankQuestions questions) { *questions_ = std::move(questions); }  // inside computations (scaled_products.h)
  FlatBucket::Bytes bytes() const;
  FlatBucket& bucket(sim::BucketIndex index) { return buckets_[index.position()]; }
  const std::vector<sim::Parameter>& parameters(sim::LayerIndex layer) const { return layers_[layer.position()].parameters; }
  const LayerLeaves& leaves(sim::LayerIndex layer) const { return layers_[layer.position()].leaves; }
  const std::vector<std::size_t>& buckets_of(sim::LayerIndex layer) const { return layers_[layer.position()].buckets; }
  const sim::Parameter& parameter(const sim::BucketSlot& slot) const;
  TensorPosition tensor() const { return tensor_; }
  c10::Device device() const { return device_; }
  at::TensorOptions options() const { return options_; }  // of weights and what they are multiplied by, but in units in full precision

  // Of a layer of maps with a batch norm: buffers, which no optimizer steps; equal on all data ranks, and whole on each.
  struct Running {
    const sim::Parameter* scale = nullptr;  // of the norm that they are of
    RunningStatistics statistics;
  };
  const std::optional<Running>& running(sim::LayerIndex layer) const { return layers_[layer.position()].running; }
  std::size_t num_layers() const { return layers_.size(); }

  // What codecs of the wire keep from step to step: this rank's alone, and of these buckets. In checkpoints beside its shard.
  struct Kept {
    std::string name;  // of a tensor of a checkpoint
    at::Tensor values;
  };
  void keep(Kept kept) { kept_.push_back(std::move(kept)); }
  const std::vector<Kept>& kept() const { return kept_; }

  void begin_step();
  void start_gradients(sim::LayerIndex layer);  // of every bucket that this layer's backward adds to

  // Where the final gradient of what every tensor rank holds whole and has a part of the gradient of stands in a buffer of all such elements, in bucket order.
  struct ReplicatedPart {
    at::Tensor gradient;
    std::int64_t begin = 0;
  };
  std::vector<ReplicatedPart> replicated_gradients(const sim::ParallelPlan& plan) const;
  at::ScalarType replicated_type(const sim::ParallelPlan& plan) const;  // of that buffer: the widest in which any of them crosses links

  // A slot's part of a range of its bucket: `from` counts inside the slot. Empty where they do not meet.
  struct SlotPart {
    BucketRange range;
    FirstElement from;
  };
  static SlotPart meet(const sim::BucketSlot& slot, BucketRange range);

 private:
  struct OwnedLayer {
    std::vector<sim::Parameter> parameters;
    LayerLeaves leaves;
    std::vector<std::size_t> buckets;  // that its backward adds to
    std::optional<Running> running = {};
  };
  void make_leaves(const sim::ParallelPlan& plan);
  void make_running_statistics();
  void put_frozen(FlatBucket& bucket, const sim::BucketSlot& slot, const at::Tensor& whole);  // of a packed bucket, from all elements, flat
  void fill(FlatBucket& bucket, const sim::BucketSlot& slot);
  std::shared_ptr<const PackedWeight> packing_of(const sim::BucketSlot& slot) const;
  std::shared_ptr<const ScaledProduct> scaling_of(const sim::ParallelPlan& plan, const sim::BucketSlot& slot) const;
  ScaleAgreement agreement_of(const sim::ParallelPlan& plan, const sim::Parameter& parameter) const;

  const sim::ModelGraph& model_;
  TensorPosition tensor_;
  c10::Device device_;
  at::TensorOptions options_;
  std::optional<sim::BaseFormat> packed_;  // what frozen matrices of blocks are kept as
  std::uint64_t seed_;
  std::optional<sim::ScaleRecipe> recipe_;  // of products with matrices of blocks
  std::int64_t microbatch_ = 0;             // of a replica's, whose tokens are here
  ScaleHistory scales_;
  std::shared_ptr<RankQuestions> questions_ = std::make_shared<RankQuestions>();
  std::vector<FlatBucket> buckets_;
  std::vector<Kept> kept_;
  std::vector<OwnedLayer> layers_;  // by LayerIndex; those of other stages are empty
};

}  // namespace executor
