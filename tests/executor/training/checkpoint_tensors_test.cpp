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

}  // namespace
}  // namespace executor
