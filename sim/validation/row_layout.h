// Degrees and batches as a row states them, before they are a plan; and rules for what it leaves open. Each is what the software does by default or
// what a user would choose; none knows a measurement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/model/model_config.h"
#include "sim/plan/parallel_plan.h"
#include "sim/units/input_error.h"

namespace sim {

struct RowLayout {
  std::int64_t gpus = 1, data = 1, tensor = 1, pipeline = 1, chunks = 1, context = 1, expert = 1, expert_tensor = 1;
  std::int64_t zero_stage = 0, zero_group = 1;  // ranks that share the states of a weight
  std::int64_t micro_batch = 1, global_batch = 1, microbatches = 1;
  std::string schedule = "none";
  std::vector<std::int64_t> balance;  // blocks by virtual stage; empty: not stated
};

struct Recomputation {
  Recompute what = Recompute::None;
  RecomputeScope scope{};
};
inline void set_recomputation(ParallelPlan& plan, const Recomputation& recomputation) {
  plan.recompute = recomputation.what;
  plan.recompute_scope = recomputation.scope;
}

// The largest power of two that keeps a pipeline's bubble small and the activations within memory.
std::int64_t usual_micro_batch(const RowLayout& layout, const ModelConfig& model, double sequence);

// Chunks a rank of an interleaved pipeline: the most that leave two layers a chunk.
std::int64_t usual_chunks(const RowLayout& layout, const ModelConfig& model);

// What a stated balance has for each rank, else what the schedule's name asks for.
std::int64_t chunks_of(const RowLayout& layout, const ModelConfig& model);

// Blocks by virtual stage where embedding and head weigh as a block each: as even as it goes; what is left over goes to the middle.
std::vector<std::int64_t> counts_with_ends(const RowLayout& layout, const ModelConfig& model);
// Where blocks divide evenly over four stages or more, two or more a stage: as many later stages as it goes have one more, the last what is left (LiBai,
// libai/utils/distributed.py).
std::vector<std::int64_t> counts_with_a_light_end(const RowLayout& layout, const ModelConfig& model);
StageCut cut_after(const std::vector<std::int64_t>& layers);  // by virtual stage, the embedding among the first's

// Faults between fields: degrees against GPUs, batch against micro-batches, experts against ranks.
std::vector<Violation> contradictions(const RowLayout& layout, const ModelConfig& model);

}  // namespace sim
