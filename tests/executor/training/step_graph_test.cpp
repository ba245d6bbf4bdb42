#include "executor/training/step_graph.h"

#include <ATen/ops/ones.h>

#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/training/checked_graph.h"
#include "tests/executor/training/device_cases.h"
#include "tests/planted/planted_bug.h"

namespace executor {
namespace {

using testing::HasSubstr;

GraphSite solo_site() { return {.device = checked_device()}; }
GraphSite nccl_site() { return {.device = checked_device(), .is_joined_by_nccl = true}; }

std::vector<std::string> refusals(sim::ParallelPlan plan, const GraphSite& site = solo_site()) {
  const sim::ModelGraph model = sim::make_model_graph(plan);
  std::vector<std::string> sentences;
  for (const sim::Violation& why : why_no_graph(plan, sim::rank_slice(sim::lower(model, plan), plan, sim::Rank(0)), site))
    sentences.push_back(why.where + ": " + why.problem);
  return sentences;
}

TEST(StepGraph, TakesTheTasksUpToTheLastThatComputesGradients) {
  const sim::ParallelPlan plan = tiny_plan();
  const std::vector<sim::Task> slice = sim::rank_slice(sim::lower(sim::make_model_graph(plan), plan), plan, sim::Rank(0));
  const std::size_t captured = captured_tasks(slice);
  ASSERT_LT(captured, slice.size());
  EXPECT_EQ(slice[captured - 1].key.phase, sim::Phase::Backward);
  EXPECT_GE(slice[captured].key.phase, sim::Phase::Gradients);
}

TEST(StepGraph, SaysWhatForbidsOne) {
  EXPECT_THAT(refusals(tiny_plan()), testing::IsEmpty());
  EXPECT_THAT(refusals(tiny_plan(), {.device = c10::kCPU}), testing::ElementsAre(HasSubstr("--device: no CUDA graph: a CPU")));
  sim::ParallelPlan plan = tiny_plan();
  plan.workload.precision = sim::Precision::Fp16;
  EXPECT_THAT(refusals(plan), testing::IsEmpty());
  plan.model.experts = sim::ExpertForm{.experts = 2, .expert_ffn = 24, .balance_loss = 0.01};
  EXPECT_THAT(refusals(plan),
              testing::Contains(HasSubstr("/workload/precision: no CUDA graph: in fp16 the host scales the routers' loss")));
  EXPECT_THAT(refusals(tiny_plan({.pipeline = 2})), testing::ElementsAre(HasSubstr("forward.send")));
  EXPECT_THAT(refusals(tiny_plan({.tensor = 2})), testing::ElementsAre(HasSubstr("all_reduce.tensor")));
  EXPECT_THAT(refusals(tiny_plan({.tensor = 2}), nccl_site()), testing::IsEmpty());
  EXPECT_THAT(refusals(tiny_plan({.pipeline = 2}), nccl_site()), testing::ElementsAre(HasSubstr("stages wait for each other")));
  plan = tiny_plan();
  plan.model.experts = sim::ExpertForm{.experts = 2, .expert_ffn = 24};
  EXPECT_THAT(refusals(plan), testing::ElementsAre(HasSubstr("/model/num_experts: no CUDA graph: the host counts")));
  plan = tiny_plan();
  std::vector<sim::Violation> none;
  plan.workload.samples = sim::parse_samples_policy("packed fixed 6 end 2", none);
  EXPECT_THAT(refusals(plan), testing::ElementsAre(HasSubstr("/workload/samples: no CUDA graph: documents end elsewhere")));
  plan = tiny_plan();
  plan.offload_optimizer = true;
  EXPECT_THAT(refusals(plan), testing::ElementsAre(HasSubstr("/offload_optimizer: no CUDA graph: the host takes gradients")));
  plan = tiny_plan();
  plan.optimizer_in_backward = true;
  EXPECT_THAT(refusals(plan), testing::ElementsAre(HasSubstr("/optimizer_in_backward: no CUDA graph: weights are stepped before")));
  plan = tiny_plan({.data = 2});
  plan.zero_stage = 3;
  EXPECT_THAT(refusals(plan), testing::Contains(HasSubstr("zero_stage 3 gives the memory")));
}

TEST(StepGraph, IsCapturedOnceAndReplayedFromThenOn) {
  std::string what;
  StepGraph graph(GraphRecorder{.begin = [&] { what += "("; }, .end = [&] { what += ")"; }, .replay = [&] { what += "r"; }});
  for (int step = 0; step < 6; ++step) {
    graph.run([&] { what += graph.is_capturing() ? "c" : "i"; });
    what += graph.is_replayed() ? "! " : " ";
  }
  EXPECT_EQ(what, "i i i (c)r! r! r! ");
  StepGraph none(std::nullopt);
  for (int step = 0; step < 6; ++step) none.run([&] { what += "t"; });
  EXPECT_THAT(what, testing::EndsWith("tttttt"));
}

constexpr std::int64_t kSteps = 5;  // the fourth is captured
std::string difference(const sim::ParallelPlan& plan, PlantedBug bug = PlantedBug::None) {
  Training issued(plan, checked_device()), replayed(plan, checked_device(), {.graph = checked_graph()});
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const StepSummary expected = issued.step(step);
    const Planting planting(bug);
    const StepSummary is = replayed.step(step);
    const bool is_same_norm = is.gradient_norm == expected.gradient_norm || (is.skipped && expected.skipped);
    if (is.loss != expected.loss || is.loss_scale != expected.loss_scale || !is_same_norm)
      return fmt::format("step {}: {} != {}", step, is.loss, expected.loss);
  }
  EXPECT_EQ(replayed.recorder.steps().size(), 3U) << "steps without all spans are no part of the trace";
  EXPECT_FALSE(replayed.recorder.last().spans.empty()) << "the end of a step is issued as ever";
  return at::equal(replayed.weights().cpu(), issued.weights().cpu()) ? "" : "other weights";
}

sim::ParallelPlan plan_of(const DeviceCase& of) {
  sim::ParallelPlan plan = tiny_plan();
  plan.training.warmup_steps = 4;  // another learning rate each step
  plan.training.gradient_clip = 0.5;
  of.change(plan);
  return plan;
}

// What else may be captured, and must therefore read nothing on the host.
const DeviceCase kOtherScores[] = {
    {"alibi", [](sim::ParallelPlan& plan) { plan.model.position = sim::Position::Alibi; }, 1e-12},
    {"windows_caps_sinks",
     [](sim::ParallelPlan& plan) {
       kDeviceCases[1].change(plan);
       plan.model.window = 3;
       plan.model.sinks = true;
       plan.model.score_cap = plan.model.logit_cap = 5;
     },
     1e-12},
    {"fp16_overflows",  // the first three steps are skipped, each with half the scale
     [](sim::ParallelPlan& plan) {
       plan.workload.precision = sim::Precision::Fp16;
       plan.training.initial_loss_scale = 0x1p22;
     },
     2e-2},
};

class Replayed : public testing::TestWithParam<DeviceCase> {};
TEST_P(Replayed, EveryBitIsThatOfTasksIssuedOneByOne) { EXPECT_EQ(difference(plan_of(GetParam())), ""); }
INSTANTIATE_TEST_SUITE_P(Plans, Replayed, testing::ValuesIn(kDeviceCases), [](const auto& device_case) { return device_case.param.name; });
INSTANTIATE_TEST_SUITE_P(Scores, Replayed, testing::ValuesIn(kOtherScores), [](const auto& device_case) { return device_case.param.name; });

TEST(Replay, TokensAtANewPlaceAreSeen) {
  if (!has_copies()) GTEST_SKIP() << "planted_training_test plants bugs";
  EXPECT_NE(difference(tiny_plan(), PlantedBug::MovedBatch), "") << "a planted bug went unseen";
}

TEST(Replay, ATaskThatReadsOnTheHostIsNotCaptured) {
  StepGraph graph(checked_graph());
  const at::Tensor loss = at::ones({1}, at::TensorOptions().device(checked_device()));
  const auto read = [&] { graph.run([&] { static_cast<void>(loss.item<float>()); }); };
  for (int step = 0; step < 3; ++step) read();
  EXPECT_THROW(read(), c10::Error);
  give_up_recording();
}

TEST(Replay, MasksOfTheCapturedStepAreSeen) {
  for (double sim::ModelConfig::*dropout :
       {&sim::ModelConfig::residual_dropout, &sim::ModelConfig::embedding_dropout, &sim::ModelConfig::attention_dropout}) {
    sim::ParallelPlan plan = tiny_plan();
    plan.model.*dropout = 0.2;
    EXPECT_EQ(difference(plan), "");
    if (!has_copies()) continue;  // planted_training_test plants bugs
    EXPECT_NE(difference(plan, PlantedBug::BakedMasks), "") << "a planted bug went unseen";
  }
}

}  // namespace
}  // namespace executor
