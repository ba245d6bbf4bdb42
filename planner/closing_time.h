// What a replay knows of a step beyond its first bound, in parts that many plans share: its microbatches in their order, of stage 3 what its gathers take one after
// the other, and what follows on all of them. Made for evaluator; with the first bound never above what replay says.
//
//   all stages   |--- microbatches, gathers ---|- last sums -|- norm -|- agree -|--- update, gathers ---|
#pragma once

#include <vector>

#include "planner/plan_prices.h"
#include "planner/replay_stage.h"

namespace planner {

// A replay without buckets: nothing is gathered, reduced or stepped, so plans that share the work of a microbatch and its order share it, whatever they shard.
sim::SimTime replay_of_microbatches(const sim::ModelGraph& model, const sim::ParallelPlan& plan,
                                    const std::vector<StageLayerPrices>& layers, const std::vector<StageTransfers>& transfers,
                                    const StageOrders& orders);

// No stage ends its microbatches before. Units that go after each action come anew for the next, but for one that is the last of one and the first of the other;
// units that stay have all come before the first backward.
sim::SimTime gathering_time(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const PlanPrices& prices,
                            const StageOrders& orders);

// Sums of the gradients that come last, the norm that all ranks agree on, the update, gathers of new weights, wherever the microbatches end.
sim::SimTime closing_time(const sim::ParallelPlan& plan, const std::vector<StageStepPrices>& steps);

}  // namespace planner
