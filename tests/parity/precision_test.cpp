// 16-bit training: ZeRO = DDP bitwise; and as far from the fp64 run as one process in the same precision is, not farther. fp16: all ranks
// skip the same steps.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/parity/compositions.h"
#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

constexpr std::int64_t kPrecisionSteps = 3;
constexpr double kBand = 2.0;        // times the error of one process
constexpr double kRouterBand = 4.0;  // with tensor ranks a router's gradient is the sum of 16-bit parts that are larger than it: seen 3.0

using sim::Precision;

class Precisions : public testing::TestWithParam<Precision> {};

sim::ParallelPlan plan_in(Precision precision, sim::DeviceMesh mesh, const sim::ModelConfig& model) {
  sim::ParallelPlan plan = with_precision(tiny_plan(model, mesh), precision);
  plan.training.initial_loss_scale = 1024;
  return plan;
}

void expect_within_band(const sim::ParallelPlan& plan, double times = kBand) {
  const sim::ParallelPlan alone = on_one_rank(plan);
  const sim::ParallelPlan exact = with_precision(alone, Precision::Fp64);
  const auto run = [](const sim::ParallelPlan& of, Ranks ranks) { return train({.plan = of, .steps = kPrecisionSteps, .ranks = ranks}); };
  const TrainingResult reference = run(exact, Ranks::Alone);
  const Distance band = distance(run(alone, Ranks::Alone), reference), here = distance(run(plan, Ranks::All), reference);
  EXPECT_LE(here.loss, kBand * band.loss + 1e-3);
  EXPECT_LE(here.gradients, times * band.gradients);
  EXPECT_LE(here.weights, kBand * band.weights);
  EXPECT_GT(band.gradients, 1e-6) << "16 bits are 16 bits";
}

TEST_P(Precisions, LiesInTheBandOfOneProcess) {
  const int ranks = num_ranks();
  if (ranks == 1) GTEST_SKIP() << "needs several ranks";
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.data = ranks}, sim::DeviceMesh{.data = ranks / 2, .tensor = 2},
                                     sim::DeviceMesh{.data = ranks / 2, .pipeline = 2}}) {
    SCOPED_TRACE(testing::PrintToString(std::tuple(mesh.data, mesh.tensor, mesh.pipeline)));
    sim::ParallelPlan plan = plan_in(GetParam(), mesh, tiny_gpt2());
    expect_within_band(plan);
    plan.workload.precision = plan.workload.precision.with(sim::Numbers::Gradients, sim::Precision::Fp32);
    expect_within_band(plan);
    expect_within_band(plan_in(GetParam(), mesh, tiny_llama()));
    sim::ModelConfig mixtral = tiny_mixtral();
    mixtral.experts->forced_balance = true;  // a choice among near equals is not continuous: no band holds it
    expect_within_band(
        plan_in(GetParam(), {.data = mesh.data, .pipeline = mesh.pipeline, .tensor = mesh.tensor, .expert = mesh.data % 2 == 0 ? 2 : 1},
                mixtral),
        mesh.tensor > 1 ? kRouterBand : kBand);
  }
}

TEST_P(Precisions, ZeroStagesAreBitwiseEqual) {
  if (num_ranks() == 1) GTEST_SKIP() << "needs several ranks";
  for (const bool fp32_gradients : {false, true}) {
    sim::ParallelPlan plan = plan_in(GetParam(), {.data = num_ranks()}, tiny_llama());
    if (fp32_gradients) plan.workload.precision = plan.workload.precision.with(sim::Numbers::Gradients, sim::Precision::Fp32);
    const TrainingResult ddp = train({.plan = plan, .steps = kPrecisionSteps});
    for (const std::int32_t stage : {1, 2, 3})
      EXPECT_EQ(bitwise_difference(train({.plan = with_zero(plan, stage), .steps = kPrecisionSteps}), ddp), "") << "zero" << stage;
  }
}

INSTANTIATE_TEST_SUITE_P(SixteenBits, Precisions, testing::Values(Precision::Bf16, Precision::Fp16),
                         [](const auto& each) { return std::string(sim::kPrecisionNames[static_cast<std::size_t>(each.param)]); });

// Each rank's sum, rounded, and their sum, rounded again: of one step's gradients.
TEST(Wire, LiesInTheBandOfItsType) {
  if (num_ranks() == 1) GTEST_SKIP() << "needs several ranks";
  const sim::ParallelPlan wide = tiny_plan(tiny_gpt2(), {.data = num_ranks()});
  const TrainingResult sent_whole = train({.plan = wide, .steps = 1});
  for (const auto& [wire, unit] : {std::pair(Precision::Bf16, 0x1p-8), std::pair(Precision::Fp16, 0x1p-10)}) {
    sim::ParallelPlan plan = wide;
    plan.workload.precision = plan.workload.precision.with(sim::Numbers::Wire, wire);
    const Distance off = distance(train({.plan = plan, .steps = 1}), sent_whole);
    EXPECT_EQ(off.loss, 0);
    EXPECT_GT(off.gradients, unit / 16) << "nothing was rounded";
    EXPECT_LT(off.gradients, unit * 2);
  }
}

double share_in_bf16(const at::Tensor& values) {
  return values.eq(values.to(at::kBFloat16).to(at::kDouble)).to(at::kDouble).mean().item<double>();
}

// Of a head in fp32 beside blocks in bf16: gradients and stepped weights have its bits, however it is gathered and summed; others' are of 16 bits.
TEST(FullUnits, KeepAllTheirBits) {
  if (num_ranks() == 1) GTEST_SKIP() << "needs several ranks";
  const sim::ParallelPlan half = plan_in(Precision::Bf16, {.data = num_ranks()}, tiny_llama());
  sim::ParallelPlan plan = half;
  plan.workload.precision = plan.workload.precision.with_full(sim::EndUnit::Head);
  const TrainingResult ddp = train({.plan = plan, .steps = kPrecisionSteps});
  for (const std::int32_t stage : {0, 1, 2, 3}) {
    SCOPED_TRACE(stage);
    const TrainingResult here = train({.plan = with_zero(plan, stage), .steps = kPrecisionSteps});
    EXPECT_EQ(bitwise_difference(here, ddp), "");
    EXPECT_LT(share_in_bf16(here.gradients.front().at("head.weight")), 0.1);
    EXPECT_EQ(share_in_bf16(here.gradients.front().at("layers.1.mlp.down.weight")), 1);
  }
  EXPECT_EQ(share_in_bf16(train({.plan = half, .steps = 1}).gradients.front().at("head.weight")), 1) << "without it";
}

// Of blocks by themselves: weights, gradients and what lies between their segments, however these are sharded, made again or summed up behind each other.
TEST(FullBlocks, KeepAllTheirBits) {
  if (num_ranks() == 1) GTEST_SKIP() << "needs several ranks";
  for (const sim::Recompute recompute : {sim::Recompute::None, sim::Recompute::Full}) {
    sim::ParallelPlan plan = plan_in(Precision::Bf16, {.data = num_ranks()}, tiny_llama());
    plan.workload.precision = plan.workload.precision.with_full(sim::BlockRanges{{1, 2}});
    plan.recompute = recompute;
    const TrainingResult ddp = train({.plan = plan, .steps = kPrecisionSteps});
    for (const std::int32_t stage : {0, 1, 2, 3}) {
      SCOPED_TRACE(stage);
      const TrainingResult here = train({.plan = with_zero(plan, stage), .steps = kPrecisionSteps});
      EXPECT_EQ(bitwise_difference(here, ddp), "");
      for (const char* wide : {"layers.1.mlp.down.weight", "layers.2.attention.qkv.weight"})
        EXPECT_LT(share_in_bf16(here.gradients.front().at(wide)), 0.1) << wide;
      for (const char* narrow : {"layers.0.mlp.down.weight", "layers.3.attention.qkv.weight", "head.weight"})
        EXPECT_EQ(share_in_bf16(here.gradients.front().at(narrow)), 1) << narrow;
    }
  }
}

sim::ParallelPlan all_in_full(sim::ParallelPlan plan) {
  const auto last = static_cast<std::int32_t>(plan.model.layers) - 1;
  const sim::PrecisionPolicy ends = plan.workload.precision.with_full(sim::EndUnit::Embedding).with_full(sim::EndUnit::Head);
  plan.workload.precision = ends.with_full(sim::BlockRanges{{0, last}});
  return plan;
}

// All units in fp32 are a training in fp32, bit for bit: what goes from layer to layer, and from stage to stage, is so, too.
TEST(FullBlocks, AllOfThemAreFp32) {
  const int ranks = num_ranks();
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.data = ranks}, sim::DeviceMesh{.pipeline = ranks}})
    for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_llama()})
      for (const sim::Recompute recompute : {sim::Recompute::None, sim::Recompute::Full}) {
        if (mesh.pipeline > model.layers) continue;
        SCOPED_TRACE(testing::PrintToString(std::tuple(mesh.data, mesh.pipeline, model.tied_embeddings)));
        sim::ParallelPlan half = plan_in(Precision::Bf16, mesh, model);
        half.recompute = recompute;
        const auto run = [](const sim::ParallelPlan& plan) { return train({.plan = plan, .steps = kPrecisionSteps}); };
        EXPECT_EQ(bitwise_difference(run(all_in_full(half)), run(with_precision(half, Precision::Fp32))), "");
      }
}

TEST(FullBlocks, LieInTheBandOfOneProcess) {
  const int ranks = num_ranks();
  if (ranks == 1) GTEST_SKIP() << "needs several ranks";
  for (const sim::DeviceMesh mesh :
       {sim::DeviceMesh{.data = ranks}, sim::DeviceMesh{.data = ranks / 2, .tensor = 2}, sim::DeviceMesh{.data = ranks / 2, .pipeline = 2}})
    for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_llama()}) {
      SCOPED_TRACE(testing::PrintToString(std::tuple(mesh.data, mesh.tensor, mesh.pipeline, model.tied_embeddings)));
      sim::ParallelPlan plan = plan_in(Precision::Bf16, mesh, model);
      plan.workload.precision = plan.workload.precision.with_full(sim::BlockRanges{{0, 0}, {2, 2}});
      plan.sequence_parallel = mesh.tensor > 1;
      expect_within_band(plan);
    }
}

// Both ends, tied and not, of whole samples' tokens and of stretches of them.
TEST(FullUnits, LieInTheBandOfOneProcess) {
  const int ranks = num_ranks();
  if (ranks == 1) GTEST_SKIP() << "needs several ranks";
  for (const sim::DeviceMesh mesh :
       {sim::DeviceMesh{.data = ranks}, sim::DeviceMesh{.data = ranks / 2, .tensor = 2}, sim::DeviceMesh{.data = ranks / 2, .pipeline = 2}})
    for (const sim::ModelConfig& model : {tiny_gpt2(), tiny_llama()}) {
      SCOPED_TRACE(testing::PrintToString(std::tuple(mesh.data, mesh.tensor, mesh.pipeline, model.tied_embeddings)));
      sim::ParallelPlan plan = plan_in(Precision::Bf16, mesh, model);
      plan.workload.precision = plan.workload.precision.with_full(sim::EndUnit::Embedding).with_full(sim::EndUnit::Head);
      plan.sequence_parallel = mesh.tensor > 1;
      expect_within_band(plan);
    }
}

// Weights and moments in bf16 alone: every layout has the bits of the others, and the loss falls as with masters.
TEST(WithoutMasters, TrainsAsFarAsBf16Does) {
  if (num_ranks() == 1) GTEST_SKIP() << "needs several ranks";
  sim::ParallelPlan kept = with_precision(tiny_plan(tiny_llama(), {.data = num_ranks()}), Precision::Bf16), plan = kept;
  plan.workload.precision = plan.workload.precision.with(sim::Numbers::Masters, Precision::Bf16);
  const TrainingResult with = train({.plan = kept, .steps = 20}), without = train({.plan = plan, .steps = 20});
  EXPECT_EQ(without.losses.front(), with.losses.front());
  EXPECT_NE(bitwise_difference(without.weights, with.weights, "weights"), "");
  EXPECT_NEAR(without.losses.back(), with.losses.back(), 0.05 * with.losses.back());
  for (const std::int32_t stage : {1, 2, 3})
    EXPECT_EQ(bitwise_difference(train({.plan = with_zero(plan, stage), .steps = 3}), train({.plan = plan, .steps = 3})), "") << stage;
}

// Where stages cut the blocks nothing is summed otherwise: every bit is that of one process.
TEST(WithoutMasters, LiesInTheBandOfOneProcess) {
  const int ranks = num_ranks();
  if (ranks == 1) GTEST_SKIP() << "needs several ranks";
  for (const sim::DeviceMesh mesh : {sim::DeviceMesh{.data = ranks}, sim::DeviceMesh{.data = ranks / 2, .tensor = 2},
                                     sim::DeviceMesh{.data = ranks / 2, .pipeline = 2}}) {
    SCOPED_TRACE(testing::PrintToString(std::tuple(mesh.data, mesh.tensor, mesh.pipeline)));
    sim::ParallelPlan plan = plan_in(Precision::Bf16, mesh, tiny_llama());
    plan.workload.precision = plan.workload.precision.with(sim::Numbers::Masters, Precision::Bf16);
    expect_within_band(plan);
    if (mesh.data > 1) expect_within_band(with_zero(plan, 3));
    if (mesh.ranks() > mesh.pipeline) continue;
    const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = kPrecisionSteps, .ranks = Ranks::Alone});
    EXPECT_EQ(bitwise_difference(train({.plan = plan, .steps = kPrecisionSteps}), alone), "");
  }
}

// A scale beyond fp16: overflows on some ranks alone would leave them a step ahead of the others.
TEST(LossScale, AllRanksSkipTheSameSteps) {
  sim::ParallelPlan plan = plan_in(Precision::Fp16, {.data = num_ranks()}, tiny_gpt2());
  plan.training.initial_loss_scale = 1 << 24;
  const TrainingResult ddp = train({.plan = plan, .steps = 8});
  EXPECT_TRUE(ddp.skipped.front());
  EXPECT_FALSE(ddp.skipped.back());
  const TrainingResult zero = train({.plan = with_zero(plan, 3), .steps = 8});
  EXPECT_EQ(zero.skipped, ddp.skipped);
  EXPECT_EQ(bitwise_difference(zero.weights, ddp.weights, "weights"), "");
}

}  // namespace
}  // namespace parity
