// --fix axis=value, read into values. Used by search_space. Knows names and values, not which combinations make sense.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sim/plan/parallel_plan.h"

namespace planner {

// Axes that can be fixed: data, context, context_algorithm, expert, tensor, pipeline, replicas, chunks, zero, accumulation, reshard, layers_per_unit, reshard_ranks, sequence_parallel, recompute, offload_optimizer, offload_activations, microbatch, schedule.
using Fixed = std::map<std::string, std::string>;

struct FixedAxes {
  std::optional<std::int32_t> data, context, expert, tensor, pipeline, replicas, chunks, zero, microbatch, layers_per_unit, reshard_ranks;
  std::optional<sim::ContextAlgorithm> context_algorithm;
  std::optional<bool> sequence_parallel, reshard, offload_optimizer, offload_activations;
  std::optional<sim::Recompute> recompute;
  std::optional<sim::Accumulation> accumulation;
  std::optional<std::string> schedule;
};

FixedAxes read_fixed_axes(const Fixed& fixed);  // throws sim::InputError with every unknown axis and value

}  // namespace planner
