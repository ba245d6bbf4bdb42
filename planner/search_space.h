// Every plan worth judging for a request, and the families that no constraint lets in. Used by search (and the GUI's counts).
// Enumerates shapes only: stage cuts come from partition, memory and time from evaluator.
//
// Exhaustive over D x C x T x P = devices (all divisors), context algorithm, expert degree (all divisors of D x C and of the experts), microbatch (all divisors of global_batch / D), schedule (every row of the
// table) with its chunks, ZeRO stage with resharding, HSDP's replicas, sequence parallelism and recomputation. Left out are plans that equal
// another one or hold more memory for the same work:
//   P == 1 or one microbatch   one schedule of a single chunk: without a second stage or microbatch there is no order to choose
//                              (gpipe on one stage only holds more activations)
//   C == 1                     one context algorithm: there is nobody to exchange keys with
//   C > 1                      less than kLeastContextTokens tokens a rank: its kernels are empty, and exchanges are all there is (fixed: taken)
//   E > 1                      replicas: experts are not cut over them
//   T == 1                     no sequence parallelism: there is no group to split the sequence over
//   D == 1                     ZeRO stage 0: there is nobody to share with
//   stage < 3                  resharding: only stage 3 gathers
//   ZeRO stage 0               replicas: nothing is sharded that they could hold twice; the sum's algorithm is priced anyway
//   replicas                   but those whose shards fill a node (HSDP); others neither spare the links between nodes nor that memory
//   no attention dropout       recompute=selective: a fused kernel keeps no scores to compute again
// An axis that is fixed is taken at its word.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/search.h"
#include "sim/plan/parallel_plan.h"

namespace planner {

inline constexpr std::int64_t kLeastContextTokens = 4096;

struct PlanCandidate {
  sim::DeviceMesh mesh{};
  sim::ContextAlgorithm context_algorithm = sim::ContextAlgorithm::Ring;
  std::int32_t schedule = 0;  // row of all_schedules()
  std::int32_t chunks = 1;
  std::int32_t microbatch = 1;  // samples
  std::int32_t zero_stage = 0;
  bool reshard = true;
  bool sequence_parallel = false;
  sim::Recompute recompute = sim::Recompute::None;
  bool operator==(const PlanCandidate&) const = default;
};

struct SearchSpace {
  std::vector<PlanCandidate> candidates;  // in a fixed order: the index breaks every tie
  std::vector<Exclusion> excluded;
};

SearchSpace enumerate(const SearchRequest& request);  // throws sim::InputError: see read_fixed_axes

// The candidate as a plan with an even cut.
sim::ParallelPlan make_plan(const SearchRequest& request, const PlanCandidate& candidate);

// "data=4 tensor=2 pipeline=1 microbatch=2 schedule=1f1b chunks=1 zero=0 ...": as --fix takes it.
std::string to_text(const PlanCandidate& candidate);

// Its axes one by one: {"data", "4"}, {"tensor", "2"}, ... in the order of to_text.
std::vector<Argument> axes_of(const PlanCandidate& candidate);

}  // namespace planner
