// Judges candidates without simulating them, cheapest first: a sketch of their bounds, then rules, memory bound, time bound.
// Bounds never exceed what the engine would say (see sketch.h, memory_bound.h, replay.h), so what they refuse cannot win.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "planner/judgement.h"
#include "planner/layer_book.h"
#include "planner/memory_bound.h"
#include "planner/plan_candidate.h"
#include "planner/plan_prices.h"
#include "planner/ranking.h"
#include "planner/replay.h"
#include "planner/sketch.h"
#include "planner/traffic.h"
#include "sim/cost/gradient_lifetime.h"
#include "sim/sharding/sharding.h"

namespace planner {

sim::Bytes memory_limit(const SearchRequest& request);

// For candidates of one mesh: keeps what they share. One object a thread.
class Evaluator {
 public:
  Evaluator(const SearchRequest& request, const sim::ModelGraph& model,
            LayerBook* book = nullptr);  // all must outlive it; null: a book of its own

  // Of words (of candidates of one shape, or of none): those that least_time() needs to be asked about to know of all.
  static std::vector<PlanCandidate> least_words(const SearchRequest& request, std::span<const PlanCandidate> words);
  // Of candidates of one shape: none of them takes less, whatever is computed again and wherever the stages are cut.
  StepTime least_time(std::span<const PlanCandidate> shape);
  StepTime first_time(const PlanCandidate& candidate);    // the time of sketch(), which takes a part of what all of it takes
  Judgement sketch(const PlanCandidate& candidate);       // Open, or TooLarge; never above what judge() says; its time is that of a step
  using Matters = std::function<bool(const Judgement&)>;  // whether it can, as far as its bounds are known; null: always
  Judgement judge(const PlanCandidate& candidate,
                  const Matters& matters = {});  // likewise; or Beaten, with what is known: it does not matter
  StepTime judged_time(const Judgement& judged, const PlanCandidate& candidate);  // of an open one
  // What its links need at least, as far as plans of its mesh with the same words of sharding were judged; else 0. Never above what the engine says.
  StepTime traffic_time(const PlanCandidate& candidate);
  sim::ParallelPlan plan(const PlanCandidate& candidate);  // with its optimal cut
  MemoryBound memory(const PlanCandidate& candidate);      // what a TooLarge is made of
  void forget_orders();                                    // which are large, and soon made again
  void forget();                                           // all that is kept, but for what is small

 private:
  struct Work {  // of one microbatch
    std::vector<StageLayerPrices> layers;
    std::vector<sim::SimTime> layer_times;
    double most = 0;  // picoseconds that it takes of all layers, on the stage where that is most
  };
  using WorkKey = std::tuple<std::int64_t, std::int64_t, bool, sim::ContextAlgorithm,
                             bool>;  // microbatch, words of the work, split backward, context algorithm, reduces each
  using ActivationKey =
      std::tuple<std::int64_t, std::int64_t, bool, sim::ContextAlgorithm, bool>;  // as WorkKey, by units; how often is reduced changes none
  using TransferKey =
      std::tuple<std::int64_t, bool, sim::ContextAlgorithm, bool>;  // microbatch, sequence parallel, context algorithm, split backward
  struct Steps {
    std::vector<StageStepPrices> stages;
    double most = 0;  // picoseconds that all of them take
  };
  struct Cut {
    std::int32_t number = 0;  // of those of the mesh
    sim::StageCut cut;
  };
  struct FirstBounds {
    StepTime time{};
    std::optional<sim::Bytes> working{};  // where it was asked for
    EndStages step_data;
    std::int32_t last_stage = 0, cut_number = 0;
    bool reduces_each = false;
  };
  using OnHost = std::pair<bool, bool>;                                                             // the optimizer; weights, too
  using EndKey = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, OnHost, bool>;  // chunks, last stage, cut; WeightsKey
  // Chunks, last stage of the model, layers of a unit of stage 3 (tensors dealt: less than 0), cut, buckets, one a layer.
  using CutKey = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, sim::Bytes, bool>;
  using WeightsKey = std::tuple<CutKey, std::int32_t, OnHost, bool>;  // ZeRO stage, offload, reduces each
  using StepKey =
      std::tuple<CutKey, std::int32_t, bool, OnHost, std::int32_t>;  // ZeRO stage, sequence parallel, offload, ranks after forward
  using TrafficKey = std::tuple<std::int32_t, sim::Accumulation, bool, std::int32_t, std::int32_t,
                                OnHost>;                                               // words of sharding: ZeRO stage to layers of a unit
  using OrderKey = std::tuple<std::string, std::int32_t, std::int64_t, std::int32_t>;  // schedule, chunks, microbatches, what waits
  using WalkKey = std::tuple<WorkKey, OrderKey, bool>;                                 // whether hosts begin with the step

  bool may_cross() const;
  StepTime with_computing(sim::SimTime step, const PlanCandidate& candidate);
  void turn_to(const PlanCandidate& candidate);     // plan_ becomes the candidate
  void take_words(const PlanCandidate& candidate);  // but for its cut
  void begin_mesh(const sim::DeviceMesh& mesh);
  const Work& work();
  StageLayerPrices priced(sim::StageIndex stage, const Pricer& pricer, const Pricer::Lie& lie) const;
  const ActivationMemory& activations();
  const std::vector<sim::StageAction>& first_order();
  sim::Bytes least_working();
  sim::SimTime node_time();
  StepTime first_step();
  sim::SimTime walked_time();        // of its microbatches in their order, whatever is gathered and reduced meanwhile
  sim::SimTime closed_time();        // with its gathers, and what follows on the microbatches
  bool has_room(double beside = 0);  // whether a step's sums fit on the clock; beside: picoseconds of a microbatch, beyond its layers
  const std::vector<StageTransfers>& transfers();
  const sim::TaskGraph& bare_devices();
  const std::vector<Pricer::Lie>& lies();
  FirstBounds& first_bounds(const PlanCandidate& candidate);
  sim::Bytes working(const PlanCandidate& candidate, FirstBounds& bounds);
  const EndStages& end_weights(const PlanCandidate& candidate, const FirstBounds& bounds);
  const sim::TaskGraph& devices();
  const std::vector<StageWeights>& weights();
  const Steps& steps();
  const StageOrders& orders();
  const std::vector<PairedActions>& paired();  // of expert_overlap, else none
  OrderKey order_key() const { return {plan_.schedule, plan_.chunks, plan_.num_pieces(), plan_.percent_waiting()}; }
  WorkKey work_key() const {
    return {plan_.microbatch_size, work_words_, plan_.splits_backward(), plan_.context_algorithm, sim::reduces_each(plan_)};
  }
  static TrafficKey traffic_key(const PlanCandidate& candidate) {
    return {candidate.zero_stage,      candidate.accumulation,  candidate.reshard,
            candidate.layers_per_unit, candidate.reshard_ranks, {candidate.offload_optimizer, candidate.offload_parameters}};
  }
  OnHost on_host() const { return {plan_.offload_optimizer, plan_.offload_parameters}; }
  CutKey cut_key() const {
    const std::int32_t layout = plan_.zero_stage == 3 ? plan_.layers_per_unit : sim::deals_tensors(plan_) ? -plan_.zero_stage : 0;
    const std::int32_t last = plan_.site(plan_.num_virtual_stages() - 1).stage.value();
    return {plan_.chunks, last, layout, cut_number_, plan_.bucket_size, plan_.sums_by_priority()};
  }

  const SearchRequest& request_;
  const sim::ModelGraph& model_;
  sim::ParallelPlan plan_;
  std::int64_t work_words_ = 0, activation_words_ = 0;  // of the plan
  std::int64_t bare_words_ = 0;                         // of the work, if nothing were computed again
  std::int32_t cut_number_ = 0;                         // of the plan's cut
  std::unique_ptr<LayerBook> own_book_;
  LayerBook& book_;
  double core_share_ = 0;                       // of a node's cores, what one rank takes; 0: they are not shared
  bool casts_by_stage_ = false;                 // to 8 bit: the work of stage 3 is another
  bool may_cross_ = false;                      // steps of some candidates: first bounds hold for those, too
  std::optional<sim::TaskGraph> bare_devices_;  // of the mesh
  std::vector<Pricer::Lie> lies_;               // of its stages
  std::map<WorkKey, Work> works_;
  const Work* work_ = nullptr;               // of the plan, once it was asked for
  std::map<WorkKey, LeastWork> least_work_;  // of each that was asked for: small, and kept when the rest is forgotten
  std::map<ActivationKey, ActivationMemory> activations_;
  std::map<TransferKey, std::vector<StageTransfers>> transfers_;
  std::map<std::pair<WorkKey, std::int32_t>, Cut> cuts_;  // by chunks
  std::map<std::vector<sim::LayerIndex>, std::int32_t> cut_numbers_;
  std::optional<PlanCandidate> shape_;                // candidates that share its mesh, microbatch, schedule and chunks follow each other
  std::map<std::int64_t, FirstBounds> first_bounds_;  // of that shape, by the words of its work
  std::map<std::int32_t, std::vector<sim::StageAction>> first_orders_;  // of its first stage, by what waits for weight gradients
  std::map<EndKey, EndStages> end_weights_;
  std::map<CutKey, sim::TaskGraph> devices_;
  std::map<WeightsKey, std::vector<StageWeights>> weights_;
  std::map<StepKey, Steps> steps_;
  std::map<WalkKey, sim::SimTime> walked_;
  std::map<TrafficKey, Traffic> traffic_;  // kept when the rest is forgotten
  OrderKey orders_of_;
  StageOrders orders_;                 // of the last shape asked for: candidates of one shape follow each other
  std::vector<PairedActions> paired_;  // of the same
};

}  // namespace planner
