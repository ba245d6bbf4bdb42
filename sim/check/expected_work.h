// What a stage must do in a step, derived from the plan alone: every task once, with its payload and what must have ended before it.
// Written apart from lower(), as tables of words, so that a mistake there is not repeated here.
//
// ZeRO-3's gathers are not listed: how long weights stay gathered is a policy, which check_gathers judges by its effect.
#pragma once

#include <vector>

#include "sim/task_graph/task_graph.h"

namespace sim {

struct ExpectedTask {
  TaskKey key;  // of a reduction under reduce_last the microbatch is none(): any one may carry it
  Bytes payload{};
  std::vector<std::size_t> after;           // positions of tasks that end before this one starts
  std::vector<std::size_t> after_before{};  // the same, of the step before; judged where steps cross alone
};

// Whether something in the layer or in front of it is trained, where the plan freezes parts: else no backward comes to it.
bool is_reached(const ModelGraph& model, LayerIndex layer);
std::vector<ExpectedTask> expected_work(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage,
                                        const std::vector<Bucket>& buckets);

// The key as expected_work writes it.
TaskKey expected_form(TaskKey key, const ParallelPlan& plan);
bool is_gathering(const Task& task);  // of ZeRO-3: brings from the host, gathers and frees

}  // namespace sim
