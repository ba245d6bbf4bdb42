// Trainings of one rank that must go on a device as on a CPU: on the checked device everywhere, on a GPU where there is one.
#pragma once

#include <ATen/ops/linalg_vector_norm.h>

#include <algorithm>

#include "tests/executor/training/tiny_training.h"

namespace executor {

struct DeviceCase {
  const char* name;
  void (*change)(sim::ParallelPlan&);
  double tolerance;
};
inline void PrintTo(const DeviceCase& of, std::ostream* out) { *out << of.name; }
inline const DeviceCase kDeviceCases[] = {
    {"gpt2", [](sim::ParallelPlan&) {}, 1e-12},
    {"llama",
     [](sim::ParallelPlan& plan) {
       plan.model.model_type = "llama";
       plan.model.norm = sim::Norm::RmsNorm;
       plan.model.position = sim::Position::Rotary;
       plan.model.activation = sim::Activation::Silu;
       plan.model.gated_mlp = true;
       plan.model.kv_heads = 1;
       plan.model.attention_bias = plan.model.projection_bias = plan.model.mlp_bias = plan.model.tied_embeddings = false;
     },
     1e-12},
    {"dropout_recompute",
     [](sim::ParallelPlan& plan) {
       plan.model.attention_dropout = plan.model.residual_dropout = plan.model.embedding_dropout = 0.2;
       plan.recompute = sim::Recompute::Full;
     },
     1e-12},
    {"microbatches_sgd",
     [](sim::ParallelPlan& plan) {
       plan.microbatch_size = 2;
       plan.workload.optimizer = sim::OptimizerKind::Sgd;
     },
     1e-12},
    {"bf16", [](sim::ParallelPlan& plan) { plan.workload.precision = sim::Precision::Bf16; }, 2e-2},
    {"bf16_full_ends",  // gradients of two types are one norm
     [](sim::ParallelPlan& plan) {
       plan.workload.precision =
           sim::PrecisionPolicy(sim::Precision::Bf16).with_full(sim::EndUnit::Embedding).with_full(sim::EndUnit::Head);
     },
     2e-2},
    {"llama_bf16",  // grouped heads, turned, and a gated activation, by kernels of their own
     [](sim::ParallelPlan& plan) {
       plan.model.model_type = "llama";
       plan.model.norm = sim::Norm::RmsNorm;
       plan.model.position = sim::Position::Rotary;
       plan.model.activation = sim::Activation::Silu;
       plan.model.gated_mlp = true;
       plan.model.heads = 4;
       plan.model.hidden = 32;
       plan.model.kv_heads = 2;
       plan.model.attention_bias = plan.model.projection_bias = plan.model.mlp_bias = plan.model.tied_embeddings = false;
       plan.workload.precision = sim::Precision::Bf16;
     },
     2e-2},
    {"fp16_another_scale_each_step",
     [](sim::ParallelPlan& plan) {
       plan.workload.precision = sim::Precision::Fp16;
       plan.training.initial_loss_scale = 64;
       plan.training.loss_scale_window = 1;
     },
     2e-2},
    {"fp8_delayed",  // scales of steps before, whose maxima stay on the device
     [](sim::ParallelPlan& plan) {
       plan.workload.precision = sim::PrecisionPolicy(sim::Precision::Bf16).with(sim::ScaleRecipe::Delayed, /*gathers_scaled=*/false);
     },
     2e-2},
    {"bf16_dropout",
     [](sim::ParallelPlan& plan) {
       plan.model.attention_dropout = plan.model.residual_dropout = plan.model.embedding_dropout = 0.2;
       plan.workload.precision = sim::Precision::Bf16;
     },
     2e-2},
};

// `slack`: sums of a GPU have another order.
struct Slack {
  double factor = 1;
};
inline void expect_the_same_training(const DeviceCase& of, c10::Device device, Slack slack = {}) {
  sim::ParallelPlan plan = tiny_plan();
  of.change(plan);
  const double tolerance = std::min(of.tolerance * slack.factor, 5e-2);
  Training here(plan), there(plan, device);
  for (std::int64_t step = 0; step < 3; ++step) {
    const StepSummary host = here.step(step), other = there.step(step);
    EXPECT_NEAR(other.loss / host.loss, 1, tolerance);
    EXPECT_NEAR(other.gradient_norm / host.gradient_norm, 1, tolerance * 10);
  }
  const at::Tensor expected = here.weights().to(at::kDouble), weights = there.weights().cpu().to(at::kDouble);
  EXPECT_LE(weights.sub(expected).norm().item<double>(), tolerance * 10 * expected.norm().item<double>());
}

}  // namespace executor
