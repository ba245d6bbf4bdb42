#include "tests/parity/muon_of_parts.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "executor/kernels/muon.h"
#include "executor/model/tensor_part.h"
#include "tests/parity/tiny_plans.h"

namespace parity {
namespace {

constexpr std::int64_t kMuonSteps = 2;

// Where the elements of a rank's part stand in the whole.
at::Tensor places_of(const executor::TensorPart& part) {
  const at::Tensor places = at::empty({part.elements()}, at::kLong);
  for (std::int64_t at = 0; at < part.elements(); ++at) places.data_ptr<std::int64_t>()[at] = part.global_element(at);
  return places;
}

at::Tensor stepped_in_parts(const at::Tensor& start, const sim::Parameter& parameter, const sim::ParallelPlan& plan,
                            const std::vector<Tensors>& gradients) {
  at::Tensor all = start.clone();
  const sim::TrainingSettings& training = plan.training;
  for (std::int32_t rank = 0; rank < plan.mesh.tensor; ++rank) {
    const executor::TensorPart part(parameter, {.degree = plan.mesh.tensor, .rank = rank});
    const at::Tensor places = places_of(part);
    const auto mine = [&](const at::Tensor& whole) { return whole.index_select(0, places).view({part.rows(), part.columns()}); };
    at::Tensor own = mine(start), momentum = at::zeros_like(own);
    for (const Tensors& of_step : gradients) {
      const at::Tensor gradient = mine(of_step.at(parameter.name));
      momentum = training.momentum * momentum + gradient;
      const double tall = std::sqrt(std::max(1.0, static_cast<double>(part.rows()) / static_cast<double>(part.columns())));
      const at::Tensor update = executor::orthogonalized(gradient + training.momentum * momentum);
      own = own * (1 - training.learning_rate * training.weight_decay) - training.learning_rate * tall * update;
    }
    all.index_copy_(0, places, own.reshape({-1}));
  }
  return all;
}

}  // namespace

sim::ParallelPlan muon_of_parts(sim::DeviceMesh mesh) {
  sim::ParallelPlan plan = with_precision(tiny_plan(tiny_llama(), mesh), sim::Precision::Fp64);
  if (mesh.data > 1) plan = by_owner(plan, 2);
  plan.workload.optimizer = sim::OptimizerKind::Muon;
  plan.training.gradient_clip = 0;
  return plan;
}

double distance_of_parts(const sim::ParallelPlan& plan, executor::PlantedBug bug) {
  sim::ParallelPlan still = plan;
  still.training.learning_rate = still.training.minimum_learning_rate = 0;
  const Tensors start = train({.plan = still, .steps = 1}).weights;
  const TrainingResult result = train({.plan = plan, .steps = kMuonSteps, .bug = bug});
  const sim::ModelGraph model = sim::make_model_graph(plan);
  double farthest = 0;
  for (sim::LayerIndex layer(1); layer < model.head(); ++layer)
    for (const sim::Parameter& parameter : model.layer(layer).parameters) {
      if (parameter.columns == 1) continue;
      const at::Tensor expected = stepped_in_parts(start.at(parameter.name), parameter, plan, result.gradients);
      const at::Tensor off = result.weights.at(parameter.name) - expected;
      farthest = std::max(farthest, off.norm().item<double>() / expected.norm().item<double>());
    }
  return farthest;
}

}  // namespace parity
