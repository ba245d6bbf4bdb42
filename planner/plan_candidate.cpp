#include "planner/plan_candidate.h"

#include "sim/schedule/schedule.h"

namespace planner {

sim::ParallelPlan make_plan(const SearchRequest& request, const PlanCandidate& candidate) {
  sim::ParallelPlan plan;
  plan.model = request.model;
  plan.cluster = request.cluster;
  plan.workload = request.workload;
  plan.vocabulary_multiple = request.vocabulary_multiple;
  plan.training = request.training;
  plan.mesh = candidate.mesh;
  plan.mesh.reshard = candidate.reshard_ranks;
  plan.context_algorithm = candidate.context_algorithm;
  plan.schedule = sim::all_schedules()[static_cast<std::size_t>(candidate.schedule)].name;
  plan.chunks = candidate.chunks;
  plan.microbatch_size = candidate.microbatch;
  plan.zero_stage = candidate.zero_stage;
  plan.accumulation = candidate.accumulation;
  plan.reshard_after_forward = candidate.reshard;
  plan.layers_per_unit = candidate.layers_per_unit;
  plan.sequence_parallel = candidate.sequence_parallel;
  plan.recompute = candidate.recompute;
  plan.offload_optimizer = candidate.offload_optimizer;
  plan.offload_activations = candidate.offload_activations;
  plan.cut = sim::even_cut(request.model.layers, plan.pipeline_shape());
  if (request.habits) request.habits(plan);
  return plan;
}

std::vector<Argument> axes_of(const PlanCandidate& candidate) {
  return {{"data", std::to_string(candidate.mesh.data)},
          {"tensor", std::to_string(candidate.mesh.tensor)},
          {"pipeline", std::to_string(candidate.mesh.pipeline)},
          {"context", std::to_string(candidate.mesh.context)},
          {"context_algorithm", std::string(sim::kContextAlgorithmNames[static_cast<std::size_t>(candidate.context_algorithm)])},
          {"expert", std::to_string(candidate.mesh.expert)},
          {"replicas", std::to_string(candidate.mesh.replicas)},
          {"microbatch", std::to_string(candidate.microbatch)},
          {"schedule", std::string(sim::all_schedules()[static_cast<std::size_t>(candidate.schedule)].name)},
          {"chunks", std::to_string(candidate.chunks)},
          {"zero", std::to_string(candidate.zero_stage)},
          {"accumulation", std::string(sim::kAccumulationNames[static_cast<std::size_t>(candidate.accumulation)])},
          {"reshard", candidate.reshard ? "true" : "false"},
          {"layers_per_unit", std::to_string(candidate.layers_per_unit)},
          {"reshard_ranks", std::to_string(candidate.reshard_ranks)},
          {"sequence_parallel", candidate.sequence_parallel ? "true" : "false"},
          {"recompute", std::string(sim::kRecomputeNames[static_cast<std::size_t>(candidate.recompute)])},
          {"offload_optimizer", candidate.offload_optimizer ? "true" : "false"},
          {"offload_activations", candidate.offload_activations ? "true" : "false"}};
}

std::string to_text(const PlanCandidate& candidate) {
  std::string joined;
  for (const Argument& axis : axes_of(candidate)) joined += (joined.empty() ? "" : " ") + axis.name + "=" + axis.value;
  return joined;
}

}  // namespace planner
