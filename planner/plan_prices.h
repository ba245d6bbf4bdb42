// What the tasks of one plan take when nothing else is on their links: the input of replay. Made by Pricer, from the cost model that the
// engine uses, so that a price here is never above the engine's time for the same task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "planner/paced_time.h"
#include "planner/pair_time.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/placement.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/layer_tasks.h"
#include "sim/task_graph/task_graph.h"
#include "sim/units/sim_time.h"

namespace planner {

struct LayerPrice {                                        // one microbatch through one layer, sums over the tensor group included
  PacedTime forward{}, recompute{}, backward{}, weight{};  // weight: where it is split off
  sim::SimTime computing{};                                // of all of them: what kernels take, without exchanges
  sim::SimTime again{}, gone_back{};                       // of that, what `recompute` and `backward` take
  // Of expert_overlap, whose exchanges `forward` and `backward` leave out: with them.
  std::vector<Stretch> forward_stretches{}, backward_stretches{};
  InTurn forward_in_turn{}, backward_in_turn{};
  bool operator==(const LayerPrice&) const = default;
};

// Of a stage's layers, by kind. Copies share them until one of them is changed: most stages take the same, and so do many meshes.
class StageLayerPrices {
  using ByKind = sim::ByLayerKind<LayerPrice>;

 public:
  StageLayerPrices() = default;
  explicit StageLayerPrices(std::size_t kinds) : prices_(std::make_shared<ByKind>(kinds)) {}
  const LayerPrice& operator[](sim::LayerKind kind) const {
    const ByKind& prices = *prices_;
    return prices[kind];
  }
  LayerPrice& operator[](sim::LayerKind kind) {
    if (prices_.use_count() > 1) prices_ = std::make_shared<ByKind>(*prices_);
    return (*prices_)[kind];
  }
  bool shares(const StageLayerPrices& other) const { return prices_ == other.prices_; }

 private:
  std::shared_ptr<ByKind> prices_;
};

// How long a task would take with all of a link: the sum over the tasks of a link is never above the time they take together.
struct LinkLoad {
  sim::SimTime port{}, uplink{};  // of the rank; of its node
  LinkLoad& operator+=(const LinkLoad& more) {
    port += more.port;
    uplink += more.uplink;
    return *this;
  }
  bool operator==(const LinkLoad&) const = default;
};
struct Exchange {  // a collective of a bucket
  sim::SimTime time{};
  LinkLoad load{};
  bool operator==(const Exchange&) const = default;
};

struct BucketPrice {
  sim::LayerIndex ready_after;
  sim::ChunkIndex chunk;
  bool tied = false;
  bool shared = false;      // by several ranks: reduced, gathered
  bool frozen = false;      // gathered alone
  bool delayed = false;     // has weights of the head whose gradients wait for the last backward
  bool persistent = false;  // stage 3: whole all the time, gathered behind the update alone
  bool stays_near = false;  // after forward: among neighbours, who gather it for less
  Exchange forward_gather{}, backward_gather{}, near_forward_gather{}, near_backward_gather{};  // stage 3: of its weights
  Exchange reduce{}, replica_sum{};  // replica_sum: of what is left of the gradients, over the replicas
  PacedTime update{};
  sim::SimTime accumulate{};            // what a microbatch's reduction leaves onto those before
  sim::SimTime to_host{}, to_device{};  // an offloaded optimizer: of gradients, of new weights; `update` is the host's
  PacedTime device_update{};            // of what of it the device steps
  sim::SimTime bring{};                 // weights on the host: of a unit's shard, before it is gathered
  sim::SimTime bring_sums{};            // and of what the host has summed so far
  sim::SimTime weights_gather{};        // stages 1 and 2, and what is persistent: after the update
  sim::SimTime embedding_sum{};         // tied: over the first stage and the copy's

  bool operator==(const BucketPrice&) const = default;
  sim::SimTime reduction(bool each) const { return reduce.time + replica_sum.time + (each ? accumulate : sim::SimTime{}); }
};

struct StageStepPrices {                         // what a stage does once a step
  std::vector<BucketPrice> buckets;              // in launch order
  std::optional<sim::SimTime> replicated_sum{};  // of gradients, where tensor ranks hold copies of parameters and parts of their gradients
  PacedTime norm_part{};
  sim::SimTime world_sum{};
};

struct TransferPrices {  // of one stage: post to, receive from the neighbors
  sim::SimTime forward_post{}, forward_receive{}, backward_post{}, backward_receive{};
};
struct StageTransfers {
  TransferPrices down, up;  // of chunks whose next stage is the following one; of those that come up a V
};

// All by stage. Views: the parts are shared between plans.
struct PlanPrices {
  const std::vector<StageLayerPrices>& layers;
  const std::vector<StageTransfers>& transfers;
  const std::vector<StageStepPrices>& steps;
};

// One device a stage and its buckets, no tasks: what the cost model looks up. Depends on mesh, cut, chunks, and on whether ZeRO is stage 3.
sim::TaskGraph devices_of(const sim::ModelGraph& model, const sim::ParallelPlan& plan);
sim::TaskGraph devices_without_buckets(const sim::ParallelPlan& plan);  // enough for layers and transfers; depends on mesh alone

// Prices parts of one plan. The parts depend on less than the plan: who asks for many plans keeps them (see evaluator).
class Pricer {
 public:
  Pricer(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::TaskGraph& devices);  // all must outlive it

  using Lie = std::vector<std::int32_t>;
  Lie lie(sim::StageIndex stage) const;  // how the groups that meet within a layer lie on nodes: where they lie alike layers take the same
  StageLayerPrices layers(sim::StageIndex stage) const;
  // Where those of the same plan that computes nothing again are known: what it takes as well is not priced anew.
  StageLayerPrices layers(sim::StageIndex stage, const StageLayerPrices& bare) const;
  std::vector<StageLayerPrices> layers() const;   // mesh, microbatch, sequence parallel, recompute, split backward (no buckets)
  std::vector<StageTransfers> transfers() const;  // mesh, microbatch, sequence parallel (no buckets)
  std::vector<StageStepPrices> steps() const;     // mesh, cut, chunks, ZeRO stage, sequence parallel, offload

  sim::SimTime price(sim::Task task) const { return exchange(task).time; }
  Exchange exchange(sim::Task task) const;                                     // a task by itself; its device is its stage's
  PacedTime pace(const sim::Task& task) const { return paced(issued(task)); }  // with what the host does for it

 private:
  Lie lie(sim::StageIndex stage, std::initializer_list<sim::MeshAxis> axes) const;
  sim::TaskCost cost(const sim::Task& task) const;
  IssuedTask issued(sim::Task task) const;
  sim::SimTime held(
      sim::Task task) const;  // of its device; of an exchange that shares its links with equal ones: 0, as that may slow it more
  // of: stage, slice, layer and phase; adds what kernels take to `computing`
  PacedTime pieces(const sim::Task& of, const std::vector<sim::Piece>& pieces, sim::SimTime& computing) const;
  std::vector<Stretch> stretches(const sim::Task& of, const std::vector<sim::Piece>& pieces) const;
  bool may_hide(const sim::Piece& piece) const;  // of a bound: behind what another microbatch computes
  LayerPrice layer(sim::StageIndex stage, sim::LayerIndex layer) const;
  LayerPrice layer(sim::StageIndex stage, sim::LayerIndex layer, const LayerPrice& bare) const;
  void price_backward(LayerPrice& price, const sim::Task& task, sim::LayerIndex layer) const;
  void price_again(LayerPrice& price, const sim::Task& task, sim::LayerIndex layer) const;
  sim::Task task_of(sim::StageIndex stage, sim::LayerIndex layer, sim::Phase phase) const;
  TransferPrices transfers(sim::StageIndex stage, std::int32_t direction) const;  // 1: the next stage follows, -1: it comes before
  struct PricedBucket {
    const sim::Bucket* bucket;
    BucketPrice price;
    std::int64_t replicated = 0;  // elements whose gradients tensor ranks hold parts of
    sim::Bytes widest{};          // of these, as they travel
  };
  Lie lie_of_buckets(sim::StageIndex stage) const;
  // known: of this stage and others that lie alike, whose equal buckets take the same.
  StageStepPrices step(sim::StageIndex stage, std::vector<PricedBucket>& known) const;
  const PricedBucket& priced(sim::StageIndex stage, sim::BucketIndex index, std::vector<PricedBucket>& known) const;
  bool is_summed_over_tensor(const sim::BucketSlot& slot) const;

  const sim::ModelGraph& model_;
  const sim::ParallelPlan& plan_;
  const sim::TaskGraph& devices_;
  sim::Placement placement_;
  sim::CostModel costs_;
};

}  // namespace planner
