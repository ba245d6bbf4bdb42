// A plan, trained for some steps on made-up tokens, with everything that two layouts must agree on: losses, gradient norms, and whole
// parameters and gradients, put together from all ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "tests/planted/planted_bug.h"

namespace parity {

using Tensors = std::map<std::string, at::Tensor>;  // by parameter, the whole of it, flat, in fp64

struct TrainingResult {
  std::vector<double> losses, norms;
  std::vector<Tensors> gradients;  // by step, before clipping
  Tensors weights;                 // after the last step; and running statistics of batch norms: "running_mean:..."
  Tensors moments;                 // Adam's first, then its second: "1:...", "2:..."
  std::vector<bool> skipped;       // by step (fp16)
};

enum class Ranks { All, Alone };  // Alone: each rank performs the (one-rank) plan by itself
struct TrainingRequest {
  sim::ParallelPlan plan;
  std::int64_t steps = 10;
  executor::PlantedBug bug = executor::PlantedBug::None;  // of planted_parity_test alone
  Ranks ranks = Ranks::All;
  std::string load_from = {}, save_to = {};  // folders of checkpoints
  bool dawdle = false;                       // each rank rests here and there
  std::vector<std::int64_t> tokens = {};     // of the file; empty: made up
  bool assembles_gradients = true;           // of each step
  Tensors frozen = {};                       // weights that frozen ones begin as
};
std::vector<std::int64_t> made_up_tokens(const sim::ParallelPlan& plan, std::size_t count);
TrainingResult train(const TrainingRequest& request);

// What differs first, in words; empty: nothing does.
std::string bitwise_difference(const TrainingResult& a, const TrainingResult& b);
std::string bitwise_difference(const Tensors& a, const Tensors& b, const std::string& what);
struct Tolerance {
  double relative_l2;
};
// The largest relative L2 of losses, of gradients and of weights.
struct Distance {
  double loss = 0, gradients = 0, weights = 0;
};
Distance distance(const TrainingResult& value, const TrainingResult& reference);
std::string difference(const TrainingResult& value, const TrainingResult& reference, Tolerance tolerance);

}  // namespace parity
