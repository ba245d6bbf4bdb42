// Judges candidates without simulating them: rules, memory bound, time bound, cheapest first. Used by search.
// Bounds never exceed what the engine would say (see memory_bound.h, replay.h), so what they refuse cannot win.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "planner/memory_bound.h"
#include "planner/plan_candidate.h"
#include "planner/plan_prices.h"
#include "planner/replay.h"
#include "sim/cost/gradient_lifetime.h"

namespace planner {

enum class Verdict : std::uint8_t {
  Open,         // may be simulated
  Illegal,      // sim::violations()
  NotRunnable,  // by the request's why_not
  TooLarge,     // the memory bound (or the simulated peak) exceeds the limit
  TooRisky,     // its bound (or the simulation) fits, but with a higher chance to run out of memory than is accepted
  Beaten,       // open, but its bounds cannot enter the result
  Simulated,    // and it fits
};

struct Judgement {
  Verdict verdict = Verdict::Open;
  sim::Bytes memory{};  // bound, or simulated peak; set unless refused by a rule
  sim::SimTime time{};  // bound, or simulated; set unless refused
};

sim::Bytes memory_limit(const SearchRequest& request);

// For candidates of one mesh: keeps what they share. One object a thread.
class Evaluator {
 public:
  Evaluator(const SearchRequest& request, const sim::ModelGraph& model);  // both must outlive it

  Judgement judge(const PlanCandidate& candidate);
  sim::ParallelPlan plan(const PlanCandidate& candidate);  // with its optimal cut
  MemoryBound memory(const PlanCandidate& candidate);      // what a TooLarge is made of

 private:
  struct Work {  // of one microbatch
    std::vector<StageLayerPrices> layers;
    std::vector<StageTransfers> transfers;
    ActivationMemory activations;
    std::vector<sim::SimTime> layer_times;
  };
  using WorkKey = std::tuple<std::int64_t, bool, sim::Recompute, bool, bool, sim::ContextAlgorithm,
                             bool>;  // microbatch, sequence parallel, recompute, offload, split backward, context algorithm, reduces each
  using CutKey = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::vector<sim::LayerIndex>,
                            sim::Bytes>;  // chunks, last stage of the model, layers of a unit of stage 3, cut, buckets
  using WeightsKey = std::tuple<CutKey, std::int32_t, bool, bool>;  // ZeRO stage, offload, reduces each
  using StepKey =
      std::tuple<CutKey, std::int32_t, bool, bool, std::int32_t>;        // ZeRO stage, sequence parallel, offload, ranks after forward
  using OrderKey = std::tuple<std::string, std::int32_t, std::int64_t>;  // schedule, chunks, microbatches

  void turn_to(const PlanCandidate& candidate);  // plan_ becomes the candidate
  void begin_mesh(const sim::DeviceMesh& mesh);
  const Work& work();
  const sim::TaskGraph& devices();
  const std::vector<StageWeights>& weights();
  const std::vector<StageStepPrices>& steps();
  const StageOrders& orders();
  WorkKey work_key() const {
    return {plan_.microbatch_size,   plan_.sequence_parallel, plan_.recompute,         plan_.offload_activations,
            plan_.splits_backward(), plan_.context_algorithm, sim::reduces_each(plan_)};
  }
  CutKey cut_key() const {
    return {plan_.chunks, plan_.site(plan_.num_virtual_stages() - 1).stage.value(), plan_.zero_stage == 3 ? plan_.layers_per_unit : 0,
            plan_.cut.first, plan_.bucket_size};
  }

  const SearchRequest& request_;
  const sim::ModelGraph& model_;
  sim::ParallelPlan plan_;
  std::map<WorkKey, Work> works_;
  std::map<std::pair<WorkKey, std::int32_t>, sim::StageCut> cuts_;  // by chunks
  std::map<CutKey, sim::TaskGraph> devices_;
  std::map<WeightsKey, std::vector<StageWeights>> weights_;
  std::map<StepKey, std::vector<StageStepPrices>> steps_;
  OrderKey orders_of_;
  StageOrders orders_;  // of the last shape asked for: candidates of one shape follow each other
};

}  // namespace planner
