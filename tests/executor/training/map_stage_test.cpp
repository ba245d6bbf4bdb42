#include "executor/training/map_stage.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include "sim/model/map_families.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

sim::ParallelPlan plan_of_maps() {
  sim::ParallelPlan plan = tiny_plan();
  plan.model = sim::convolutional_model("resnet", {.image = 16, .stem = 8, .widths = {8, 12}, .depths = {1, 2}, .bottleneck = false}, 5);
  plan.workload.sequence = 1;
  plan.microbatch_size = plan.workload.global_batch;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

// The same network by LibTorch's autograd, as torchvision writes it: the parameters in their order.
class Reference {
 public:
  explicit Reference(const ParameterStore& parameters, const sim::ModelGraph& model) {
    for (sim::LayerIndex layer{0}; layer <= model.head(); ++layer)
      for (const Leaf& leaf : parameters.leaves(layer)) weights_.push_back(leaf.value.detach().clone().requires_grad_());
  }

  at::Tensor loss(at::Tensor x, const at::Tensor& labels) {
    x = at::max_pool2d(at::relu(normed(convolved(x, 7, 2))), {3, 3}, {2, 2}, {1, 1});
    for (const bool halves : {false, true, false}) x = block(x, halves);
    const at::Tensor weight = next(), bias = next();
    return at::cross_entropy_loss(at::linear(x.mean({2, 3}), weight, bias), labels);
  }
  const std::vector<at::Tensor>& weights() const { return weights_; }

 private:
  const at::Tensor& next() { return weights_[used_++]; }
  at::Tensor convolved(const at::Tensor& x, std::int64_t side, std::int64_t stride) {
    return at::conv2d(x, next().view({-1, x.size(1), side, side}), {}, stride, (side - 1) / 2);
  }
  at::Tensor normed(const at::Tensor& x) {
    const at::Tensor scale = next(), shift = next();
    return at::batch_norm(x, scale, shift, {}, {}, /*training=*/true, 0.1, 1e-5, /*cudnn_enabled=*/false);
  }
  at::Tensor block(const at::Tensor& x, bool halves) {
    const at::Tensor inner = at::relu(normed(convolved(x, 3, halves ? 2 : 1))), outer = normed(convolved(inner, 3, 1));
    return at::relu(outer + (halves ? normed(convolved(x, 1, 2)) : x));
  }

  std::vector<at::Tensor> weights_;
  std::size_t used_ = 0;
};

TEST(MapStage, AgreesWithAutograd) {
  Training training(plan_of_maps());
  Reference reference(training.parameters, training.model);
  const StepBatch batch = load_batch(TokenFile(training.folder.file("tokens.bin"), 1), training.plan, sim::Rank(0), 0);
  const at::Tensor loss = reference.loss(batch.images.select(0, 0), batch.targets.select(0, 0));
  loss.backward();
  EXPECT_NEAR(training.step(0).loss, loss.item<double>(), 1e-12);
  std::size_t at = 0;
  for (sim::LayerIndex layer{0}; layer <= training.model.head(); ++layer)
    for (const Leaf& leaf : training.parameters.leaves(layer)) {
      const at::Tensor expected = reference.weights()[at++].grad();
      EXPECT_LT((leaf.gradient - expected).norm().item<double>(), 1e-10 * expected.norm().item<double>()) << layer.value();
    }
}

TEST(MapStage, LearnsWhatLabelsLookLike) {
  sim::ParallelPlan plan = plan_of_maps();
  plan.training.learning_rate = plan.training.minimum_learning_rate = 1e-2;
  Training training(std::move(plan));
  const double first = training.step(0).loss;
  double last = first;
  for (std::int64_t step = 1; step < 30; ++step) last = training.step(step).loss;
  EXPECT_LT(last, first / 2);
}

TEST(MapStage, UnknownTasksAreRefused) {
  Training training(plan_of_maps());
  PipelineStage stage(training.model, training.plan, sim::Rank(0), training.parameters);
  EXPECT_THROW(stage.perform({.layer = sim::LayerIndex(1), .phase = sim::Phase::Forward, .operation = sim::Operation::Mlp}),
               std::logic_error);
}

}  // namespace
}  // namespace executor
