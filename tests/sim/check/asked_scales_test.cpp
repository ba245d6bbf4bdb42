// What a product asks, written out by hand: of a matrix 32 x 16 and six rows.
#include "sim/check/asked_scales.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::tiny_plan;

using Asked = std::vector<std::pair<MeshAxis, std::int64_t>>;  // axis, numbers of four bytes

Asked asked(const ParallelPlan& plan, const CheckedProduct& product, bool backward) {
  Asked found;
  for (const AskedWithin& one : asked_by(plan, product, backward, Bytes(4))) found.emplace_back(one.of, one.payload.value() / 4);
  return found;
}

ParallelPlan scaled(DeviceMesh mesh, ScaleRecipe recipe) {
  ParallelPlan plan = tiny_plan(mesh);
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(recipe, false);
  return plan;
}

CheckedProduct product(ProductCut cut, bool of_experts = false) {
  return {.inputs = 16, .outputs = 32, .rows = 6, .cut = cut, .of_experts = of_experts};
}

TEST(AskedScales, OfTensorRanks) {
  using enum ProductCut;
  const ParallelPlan whole = scaled({.tensor = 2}, ScaleRecipe::Tensorwise), rows = scaled({.tensor = 2}, ScaleRecipe::Rowwise);
  const Asked none;
  EXPECT_EQ(asked(whole, product(Outputs), false), (Asked{{MeshAxis::Tensor, 1}}));
  EXPECT_EQ(asked(whole, product(Outputs), true), (Asked{{MeshAxis::Tensor, 1}}));
  EXPECT_EQ(asked(whole, product(Inputs), false), (Asked{{MeshAxis::Tensor, 2}}));
  EXPECT_EQ(asked(whole, product(Inputs), true), none);
  EXPECT_EQ(asked(rows, product(Outputs), false), none);
  EXPECT_EQ(asked(rows, product(Outputs), true), (Asked{{MeshAxis::Tensor, 6 + 16}}));
  EXPECT_EQ(asked(rows, product(Inputs), false), (Asked{{MeshAxis::Tensor, 6 + 32}}));
  EXPECT_EQ(asked(rows, product(Inputs), true), none);
  for (const ScaleRecipe recipe : {ScaleRecipe::Delayed, ScaleRecipe::Blockwise, ScaleRecipe::Mx})
    for (const bool backward : {false, true}) EXPECT_EQ(asked(scaled({.tensor = 2}, recipe), product(Outputs), backward), none);
}

TEST(AskedScales, OfContextRanks) {
  using enum ProductCut;
  const ParallelPlan whole = scaled({.context = 2}, ScaleRecipe::Tensorwise),
                     rows = scaled({.tensor = 2, .context = 2}, ScaleRecipe::Rowwise);
  for (const bool backward : {false, true}) EXPECT_EQ(asked(whole, product(Own), backward), (Asked{{MeshAxis::Context, 1}}));
  EXPECT_EQ(asked(rows, product(Outputs), false), (Asked{{MeshAxis::Context, 16}}));
  EXPECT_EQ(asked(rows, product(Outputs), true), (Asked{{MeshAxis::Tensor, 6 + 16}, {MeshAxis::Context, 32 / 2}}));
  EXPECT_EQ(asked(rows, product(Inputs), false), (Asked{{MeshAxis::Tensor, 6 + 32}, {MeshAxis::Context, 16 / 2}}));
  EXPECT_EQ(asked(rows, product(Inputs), true), (Asked{{MeshAxis::Context, 32}}));
}

// Of two stretches of 32 tokens a rank: each is a tile of 32, and a quarter of one of 128.
TEST(AskedScales, OfTilesOfTokens) {
  ParallelPlan plan = scaled({.context = 2}, ScaleRecipe::Mx);
  plan.workload.sequence = 128;
  EXPECT_EQ(asked(plan, product(ProductCut::Own), false), Asked());
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Blockwise, false);
  EXPECT_EQ(asked(plan, product(ProductCut::Own), false), (Asked{{MeshAxis::Context, 16}}));
  plan.microbatch_size = 2;
  EXPECT_EQ(asked(plan, product(ProductCut::Own), true), (Asked{{MeshAxis::Context, 32 * 2}}));
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Mx, false);
  plan.workload.sequence = 96;  // stretches of 24
  EXPECT_EQ(asked(plan, product(ProductCut::Own), true), (Asked{{MeshAxis::Context, 32 * 6}}));
}

TEST(AskedScales, OfExperts) {
  using enum ProductCut;
  const auto of = [](DeviceMesh mesh, ProductCut cut) {
    ParallelPlan plan = scaled(mesh, ScaleRecipe::Tensorwise);
    plan.model.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 32};
    return asked(plan, product(cut, /*of_experts=*/true), false);
  };
  EXPECT_EQ(of({.data = 2, .expert = 2}, Outputs), Asked());                 // each has all rows of its experts, and all of their weights
  EXPECT_EQ(of({.tensor = 2}, Inputs), (Asked{{MeshAxis::Tensor, 2 * 8}}));  // eight experts of one microbatch
  EXPECT_EQ(of({.data = 2, .tensor = 2, .expert = 2}, Outputs), (Asked{{MeshAxis::Tensor, 4 * 2}}));  // four, of two microbatches
  EXPECT_EQ(of({.context = 2}, Outputs), (Asked{{MeshAxis::ExpertData, 8}}));                         // copies on two ranks of a sample
  EXPECT_EQ(of({.data = 2, .context = 2}, Outputs), (Asked{{MeshAxis::ExpertData, 8 * 2}}));          // and on those of another one
  EXPECT_EQ(of({.tensor = 2, .expert_tensor = 1}, Outputs), (Asked{{MeshAxis::ExpertData, 8}}));
  EXPECT_EQ(of({.tensor = 4, .expert = 2, .expert_tensor = 2}, Outputs), (Asked{{MeshAxis::ExpertTensor, 4}}));
}

// Each tensor rank has a part of the gradient of what all make.
TEST(AskedScales, SumsInFrontOfRounding) {
  const CheckedProduct down = product(ProductCut::Whole);
  EXPECT_EQ(asked(scaled({.tensor = 2}, ScaleRecipe::Delayed), down, true), (Asked{{MeshAxis::Tensor, 6 * 32}}));
  EXPECT_EQ(asked(scaled({.tensor = 2}, ScaleRecipe::Delayed), down, false), Asked());
  EXPECT_EQ(asked(scaled({.tensor = 2, .context = 2}, ScaleRecipe::Tensorwise), down, true),
            (Asked{{MeshAxis::Tensor, 6 * 32}, {MeshAxis::Context, 1}}));
  EXPECT_EQ(asked(scaled({.context = 2}, ScaleRecipe::Delayed), down, true), Asked());
}

TEST(AskedScales, NobodyAsks) {
  ParallelPlan plan = scaled({.tensor = 2}, ScaleRecipe::Tensorwise);
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_EQ(asked(plan, product(ProductCut::Outputs), false), Asked());
  plan = tiny_plan({.tensor = 2});
  EXPECT_EQ(asked(plan, product(ProductCut::Whole), true), Asked());
}

}  // namespace
}  // namespace sim
