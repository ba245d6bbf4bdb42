#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "executor/kernels/code_tables.h"
#include "executor/training/checkpoint.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

std::vector<std::string> names(const sim::ParallelPlan& plan, sim::Rank rank) {
  const sim::ModelGraph model = sim::make_model_graph(plan);
  ParameterStore store(model, plan, rank, c10::kCPU);
  std::vector<std::string> all;
  for (const NamedTensor& tensor : checkpoint_tensors(store)) all.push_back(tensor.name);
  return all;
}

TEST(CheckpointTensors, OneRankSavesWholeParametersWithTheirMoments) {
  const sim::ParallelPlan plan = tiny_plan();
  const auto all = names(plan, sim::Rank(0));
  EXPECT_THAT(all, testing::IsSupersetOf({"weight:embedding.tokens.weight", "moment1:layers.1.mlp.up.bias", "moment2:head.norm.weight"}));
  EXPECT_THAT(all, testing::Each(testing::Not(testing::HasSubstr("@"))));
}

TEST(CheckpointTensors, ShardsSayWhichElementsTheyHold) {
  sim::ParallelPlan plan = tiny_plan({.data = 2});
  plan.zero_stage = 1;
  std::int64_t elements = 0;
  const sim::ModelGraph model = sim::make_model_graph(plan);
  for (const sim::Rank rank : {sim::Rank(0), sim::Rank(1)}) {
    ParameterStore store(model, plan, rank, c10::kCPU);
    for (const NamedTensor& tensor : checkpoint_tensors(store))
      if (tensor.name.starts_with("weight:")) elements += tensor.values.numel();
  }
  std::int64_t expected = 0;
  for (const sim::Layer& layer : model.layers)
    for (const sim::Parameter& parameter : layer.parameters) expected += parameter.elements();
  EXPECT_EQ(elements, expected) << "each element once";
  EXPECT_THAT(names(plan, sim::Rank(1)), testing::Contains(testing::HasSubstr("@t0:")));
}

TEST(CheckpointTensors, SgdHasOneMoment) {
  sim::ParallelPlan plan = tiny_plan();
  plan.workload.optimizer = sim::OptimizerKind::Sgd;
  EXPECT_THAT(names(plan, sim::Rank(0)), testing::Each(testing::Not(testing::StartsWith("moment2"))));
}

TEST(CheckpointTensors, MomentsInEightBitsAreCodesAndScales) {
  sim::ParallelPlan plan = tiny_plan({.data = 2});
  plan.workload.optimizer = sim::OptimizerKind::AdamW8bit;
  plan.zero_stage = 3;
  const sim::ModelGraph model = sim::make_model_graph(plan);
  ParameterStore store(model, plan, sim::Rank(1), c10::kCPU);
  const std::vector<StatePart> parts = state_parts(store);
  for (std::size_t at = 0; at < parts.size(); at += 5) {
    EXPECT_THAT((std::vector{parts[at + 1].kind, parts[at + 2].kind, parts[at + 3].kind, parts[at + 4].kind}),
                testing::ElementsAre("moment1", "scale1", "moment2", "scale2"));
    EXPECT_EQ(parts[at + 1].values.scalar_type(), at::kByte);
    EXPECT_EQ(parts[at + 2].values.numel(), (parts[at].values.numel() + 255) / 256);
    EXPECT_EQ(named(parts[at + 2]).name.substr(6), named(parts[at]).name.substr(6)) << "the same elements";
  }
}

// Blocks that begin elsewhere are scaled anew; the same ones are not touched.
TEST(CheckpointTensors, CodesOfOtherBlocksAreScaledAnew) {
  StatePart part{.kind = "moment1", .parameter = nullptr, .tensor = {}, .from = {}, .elements = 300, .values = at::zeros({300}, at::kByte)};
  const at::Tensor scales = at::zeros({2}), there = at::ones({300}), codes = at::full({300}, 200, at::kByte);
  there.narrow(0, 100, 156).fill_(4);
  put_codes(part, scales, {.codes = codes, .scales = there});
  const float number = signed_tree()[200];
  EXPECT_EQ(scales[0].item<float>(), 4 * number) << "the largest number of the block";
  EXPECT_EQ(part.values[100].item<std::uint8_t>(), 255);
  EXPECT_NEAR(signed_tree()[part.values[0].item<std::uint8_t>()] * 4 * number, number, 0.01 * number);
  EXPECT_EQ(scales[1].item<float>(), 1);
  EXPECT_EQ(part.values[299].item<std::uint8_t>(), 200);
}

}  // namespace
}  // namespace executor
