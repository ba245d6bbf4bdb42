#include "executor/training/wire_codecs.h"

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

sim::ParallelPlan plan_with_codecs(std::int32_t stage, const char* precision) {
  sim::ParallelPlan plan = tiny_plan({.data = 2});
  plan.zero_stage = stage;
  std::vector<sim::Violation> wrong;
  plan.workload.precision = sim::parse_precision_policy(precision, wrong);
  return plan;
}

TEST(WireCodecs, WithoutACodecNothingIsKept) {
  const sim::ParallelPlan plan = plan_with_codecs(0, "fp64");
  const sim::ModelGraph model = sim::make_model_graph(plan);
  ParameterStore parameters(model, plan, sim::Rank(0), c10::kCPU);
  WireCodecs codecs(plan, parameters);
  const sim::Task sum{.key = {.phase = sim::Phase::Gradients, .operation = sim::Operation::AllReduce, .group = sim::MeshAxis::Data},
                      .bucket = sim::BucketIndex(0)};
  EXPECT_FALSE(codecs.summed(sum).defined());
  EXPECT_FALSE(codecs.gather(sum).all.defined());
}

// The own shard's codes lie in their place among all: decoded, the weights are near what they were, on every rank the same.
TEST(WireCodecs, WeightsAreGatheredAsCodes) {
  const sim::ParallelPlan plan = plan_with_codecs(3, "fp64 gathers=int8");
  const sim::ModelGraph model = sim::make_model_graph(plan);
  std::vector<std::unique_ptr<ParameterStore>> stores;
  std::vector<std::unique_ptr<WireCodecs>> codecs;
  const sim::Task encode{.key = {.phase = sim::Phase::Forward, .operation = sim::Operation::Encode}, .bucket = sim::BucketIndex(1)};
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    stores.push_back(std::make_unique<ParameterStore>(model, plan, sim::Rank(rank), c10::kCPU));
    stores.back()->fill_initial_values();
    codecs.push_back(std::make_unique<WireCodecs>(plan, *stores.back()));
    codecs.back()->encode(encode);
  }
  const WireCodecs::Gather first = codecs[0]->gather(encode), second = codecs[1]->gather(encode);
  EXPECT_EQ(first.own.data_ptr(), first.all.data_ptr());
  EXPECT_EQ(first.own.numel() * 2, first.all.numel());
  first.all.narrow(0, second.own.numel(), second.own.numel()).copy_(second.own);
  second.all.narrow(0, 0, first.own.numel()).copy_(first.own);
  for (const auto& each : codecs) each->decode(encode);
  const at::Tensor here = stores[0]->bucket(encode.bucket).weights(), there = stores[1]->bucket(encode.bucket).weights();
  EXPECT_TRUE(here.equal(there));
  const std::int64_t shard = here.numel() / 2;
  const at::Tensor kept = stores[1]->bucket(encode.bucket).weight_shard(), off = here.narrow(0, shard, shard) - kept;
  EXPECT_LT(off.norm().item<double>(), 0.02 * kept.norm().item<double>());
  EXPECT_FALSE(codecs[0]->gather(encode).all.defined()) << "codes are given up";
}

TEST(WireCodecs, FactorsAreSummedInTheirOrder) {
  const sim::ParallelPlan plan = plan_with_codecs(0, "fp64 wire=powersgd:1");
  const sim::ModelGraph model = sim::make_model_graph(plan);
  ParameterStore parameters(model, plan, sim::Rank(0), c10::kCPU);
  parameters.bucket(sim::BucketIndex(0)).start_gradients();
  WireCodecs codecs(plan, parameters);
  sim::Task task{.key = {.phase = sim::Phase::Gradients, .group = sim::MeshAxis::Data}, .bucket = sim::BucketIndex(0)};
  codecs.encode(task);
  const std::vector<sim::WireStep> steps = sim::reduction_steps(parameters.buckets().front().layout(), plan);
  EXPECT_EQ(static_cast<std::int64_t>(codecs.summed(task).nbytes()), steps[1].payload.value());
  task.key.sequence = static_cast<std::int32_t>(parameters.buckets().size());
  EXPECT_EQ(static_cast<std::int64_t>(codecs.summed(task).nbytes()), steps[3].payload.value());
  task.key.group = sim::MeshAxis::Embedding;
  EXPECT_FALSE(codecs.summed(task).defined()) << "a tied embedding's two copies meet as they are";
}

}  // namespace
}  // namespace executor
