// Context ranks in one process, for the tests of this room: what they exchange is copied from one to the other.
#pragma once

#include <ATen/ops/zeros_like.h>

#include <vector>

#include "executor/training/context_attention.h"
#include "sim/task_graph/task_graph.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {

// Hierarchical: two neighbours deal heads.
inline sim::ParallelPlan context_plan(std::int32_t ranks, sim::ContextAlgorithm algorithm, std::int64_t samples = 1) {
  sim::ParallelPlan plan = tiny_plan({.context = ranks});
  plan.model.heads = 4;
  plan.model.kv_heads = algorithm == sim::ContextAlgorithm::AllToAll ? 4 : 2;
  if (algorithm == sim::ContextAlgorithm::Hierarchical) plan.mesh.context_inner = 2;
  plan.model.head_dim = 4;
  plan.model.model_type = "llama";
  plan.model.position = sim::Position::Rotary;
  plan.workload.sequence = 4 * ranks;
  plan.model.max_positions = 4 * ranks;
  plan.microbatch_size = samples;
  plan.context_algorithm = algorithm;
  return plan;
}

inline void exchange_between(const std::vector<Exchange>& of_ranks, sim::Operation operation) {
  const std::size_t ranks = of_ranks.size();
  std::vector<at::Tensor> sent;
  for (const Exchange& exchange : of_ranks) sent.push_back(exchange.from.clone().view(-1));
  const auto part = [&](const at::Tensor& whole, std::size_t of) { return whole.chunk(static_cast<std::int64_t>(ranks))[of]; };
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const at::Tensor to = of_ranks[rank].to.view(-1);
    for (std::size_t other = 0; other < ranks; ++other) {
      if (operation == sim::Operation::AllGather) part(to, other).copy_(sent[other]);
      if (operation == sim::Operation::AllToAll) part(to, other).copy_(part(sent[other], rank));
      if (operation == sim::Operation::ReduceScatter) other == 0 ? to.copy_(part(sent[0], rank)) : to.add_(part(sent[other], rank));
    }
    if (operation == sim::Operation::RingHop) to.copy_(sent[(rank + ranks - 1) % ranks]);
  }
}

// Of each group along a task's axis by itself.
inline void exchange_in_groups(const sim::DeviceMesh& mesh, const std::vector<Exchange>& of_ranks, const sim::TaskKey& key) {
  for (sim::Rank rank{0}; rank.value() < mesh.ranks(); ++rank) {
    const std::vector<sim::Rank> group = mesh.group(rank, key.group);
    std::vector<Exchange> members;
    for (const sim::Rank member : group) members.push_back(of_ranks[member.position()]);
    if (group.front() == rank) exchange_between(members, key.operation);
  }
}

// The tasks of a rank, in their order.
inline std::vector<sim::Task> tasks_of(const sim::ParallelPlan& plan) {
  return sim::rank_slice(sim::lower(sim::make_model_graph(plan), plan), plan, sim::Rank(0));
}

}  // namespace executor
