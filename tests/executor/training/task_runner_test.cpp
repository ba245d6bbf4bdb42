#include "executor/training/task_runner.h"

#include <ATen/ops/linalg_vector_norm.h>

#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(TaskRunner, RecordsExactlyItsSlice) {
  Training training(tiny_plan());
  training.step(0);
  const std::vector<sim::Task> slice = sim::rank_slice(sim::lower(training.model, training.plan), training.plan, sim::Rank(0));
  const std::vector<sim::Span>& spans = training.recorder.last().spans;
  ASSERT_EQ(spans.size(), slice.size());
  for (std::size_t at = 0; at < spans.size(); ++at) {
    EXPECT_EQ(spans[at].key, slice[at].key);
    EXPECT_LE(spans[at].start, spans[at].end);
    EXPECT_LE(spans[at > 0 ? at - 1 : 0].start, spans[at].start);
    if (at == 0) continue;
    EXPECT_LE(spans[at - 1].end, spans[at].start) << "one thread: one task at a time";
  }
  EXPECT_TRUE(training.recorder.last().ledger.empty()) << "one rank talks to nobody";
}

TEST(TaskRunner, LossFalls) {
  sim::ParallelPlan plan = tiny_plan();
  plan.training.learning_rate = plan.training.minimum_learning_rate = 1e-2;
  Training training(plan);
  const double first = training.step(0).loss;
  double last = first;
  for (std::int64_t step = 1; step < 60; ++step) last = training.step(step).loss;
  EXPECT_LT(last, 0.7 * first);
}

// One rank, on a device whose memory the host cannot touch: the same training.
struct DeviceCase {
  const char* name;
  void (*change)(sim::ParallelPlan&);
  double tolerance;
};
void PrintTo(const DeviceCase& of, std::ostream* out) { *out << of.name; }
const DeviceCase kDeviceCases[] = {
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
};
class OnADevice : public testing::TestWithParam<DeviceCase> {};

TEST_P(OnADevice, TrainsAsOnTheCpu) {
  sim::ParallelPlan plan = tiny_plan();
  GetParam().change(plan);
  Training here(plan), there(plan, checked_device());
  for (std::int64_t step = 0; step < 3; ++step) {
    const StepSummary host = here.step(step), device = there.step(step);
    EXPECT_NEAR(device.loss / host.loss, 1, GetParam().tolerance);
    EXPECT_NEAR(device.gradient_norm / host.gradient_norm, 1, GetParam().tolerance * 10);
  }
  const at::Tensor expected = here.weights().to(at::kDouble), weights = there.weights().cpu().to(at::kDouble);
  EXPECT_LE(weights.sub(expected).norm().item<double>(), GetParam().tolerance * 10 * expected.norm().item<double>());
}
INSTANTIATE_TEST_SUITE_P(Plans, OnADevice, testing::ValuesIn(kDeviceCases), [](const auto& device_case) { return device_case.param.name; });

}  // namespace
}  // namespace executor
