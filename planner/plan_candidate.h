// One point of the space that the planner searches: what a plan file says beside model, cluster and workload.
// Its stage cut is even until partition has looked at it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "planner/reason.h"
#include "planner/search.h"
#include "sim/plan/parallel_plan.h"
#include "sim/plan/plan_fields.h"

namespace planner {

struct PlanCandidate {
  sim::DeviceMesh mesh{};
  sim::ContextAlgorithm context_algorithm = sim::ContextAlgorithm::Ring;
  std::int32_t schedule = 0;  // row of all_schedules()
  std::int32_t chunks = 1;
  std::int32_t microbatch = 1;  // samples
  std::int32_t slices = 1;      // of each of them; others than 1 where they are asked for
  std::int32_t zero_stage = 0;
  sim::Accumulation accumulation = sim::Accumulation::ReduceLast;
  bool reshard = true;
  std::int32_t layers_per_unit = 1;
  std::int32_t reshard_ranks = 1;  // of the plan's mesh: not of the candidate's, whose prices it shares
  bool sequence_parallel = false;
  sim::TokenDispatcher token_dispatcher = sim::TokenDispatcher::AsTheProgram;
  bool expert_overlap = false;
  sim::Recompute recompute = sim::Recompute::None;
  sim::RecomputeScope scope{};
  bool offload_optimizer = false, offload_parameters = false, offload_activations = false;
  sim::CudaGraphs cuda_graphs = sim::CudaGraphs::None;              // the same for all of a space
  sim::AttentionWord attention = sim::AttentionWord::AsTheProgram;  // likewise
  bool operator==(const PlanCandidate&) const = default;
};

// What is left to choose are words: ZeRO stage, recomputation, ... Candidates of one shape follow each other in a space.
inline bool same_shape(const PlanCandidate& a, const PlanCandidate& b) {
  return a.mesh == b.mesh && a.context_algorithm == b.context_algorithm && a.microbatch == b.microbatch && a.schedule == b.schedule &&
         a.chunks == b.chunks && a.expert_overlap == b.expert_overlap && a.slices == b.slices;
}

inline void take_shape(PlanCandidate& words, const PlanCandidate& of) {
  words.mesh = of.mesh;
  words.context_algorithm = of.context_algorithm;
  words.microbatch = of.microbatch;
  words.schedule = of.schedule;
  words.chunks = of.chunks;
  words.expert_overlap = of.expert_overlap;
}

// An axis of the search: a field of the plan in which candidates differ.
struct Axis {
  const sim::PlanField* field = nullptr;
  double (*number)(const PlanCandidate&) = nullptr;  // its value, or the position of its name: for distances
  bool is_degree = false;                            // how far apart two numbers are counts, by their ratio
  bool of_shape = false;                             // of which same_shape() is asked; else it is a word
  void (*put)(const PlanCandidate&, sim::ParallelPlan&) = nullptr;
  void (*take)(const sim::ParallelPlan&, PlanCandidate&) = nullptr;
  bool is_told_where_asked = false;  // its usual value is left out of texts
};
std::span<const Axis> all_axes();
std::string axis_names();  // "data, tensor, ..."

PlanCandidate candidate_of(const sim::ParallelPlan& plan);  // what has no use (sim::has_use) has its usual value; the cut is not asked

void put_into(const PlanCandidate& candidate, sim::ParallelPlan& plan);  // all its axes; the cut stays

// The candidate as a plan with an even cut.
sim::ParallelPlan make_plan(const SearchRequest& request, const PlanCandidate& candidate);

// "data=4 tensor=2 pipeline=1 microbatch=2 schedule=1f1b chunks=1 zero=0 ...": as --fix takes it. What is empty is left out.
std::string to_text(const PlanCandidate& candidate);

// Its axes one by one: {"data", "4"}, {"tensor", "2"}, ... in the order of to_text.
std::vector<Argument> axes_of(const PlanCandidate& candidate);

}  // namespace planner
