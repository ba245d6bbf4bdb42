// Simulated timelines as text, byte for byte, the same from every compiler. After a change that is meant, tests/golden/bless.sh writes
// them anew.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "sim/check/checkers.h"
#include "sim/engine/simulate.h"
#include "tests/golden/golden_plans.h"

namespace sim {
namespace {

using testing::GoldenPlan;

std::string path_of(const GoldenPlan& golden) { return "tests/golden/" + golden.name + ".txt"; }  // from the repository's root

std::string text_of(const GoldenPlan& golden) {
  const ModelGraph model = make_model_graph(golden.plan);
  const TaskGraph graph = lower(model, golden.plan);
  const SimulationResult result = simulate(model, golden.plan, graph, Detail::Timeline);
  return fmt::format("step {} ps, {} tasks, peak {} B\n\n{}\n{}", result.step_time.count(), result.num_tasks, result.peak_memory.value(),
                     order_text(result.timeline), picture_text(result.timeline, {100}));
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool blesses() { return std::getenv("MESHWRIGHT_BLESS") != nullptr; }

class Golden : public ::testing::TestWithParam<GoldenPlan> {};

TEST_P(Golden, TimelineIsWhatItWas) {
  const std::string text = text_of(GetParam());
  if (blesses()) std::ofstream(path_of(GetParam()), std::ios::binary) << text;
  EXPECT_EQ(content_of(path_of(GetParam())), text) << "if the change is meant: tests/golden/bless.sh, and say so in the commit";
}

TEST_P(Golden, PassesTheCheckers) {
  const ParallelPlan& plan = GetParam().plan;
  ASSERT_THAT(violations(plan), ::testing::IsEmpty());
  const ModelGraph model = make_model_graph(plan);
  for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
    const TaskGraph graph = lower(model, plan, fold);
    EXPECT_THAT(check_graph(model, plan, graph), ::testing::IsEmpty());
    EXPECT_THAT(check_timeline(graph, simulate(model, plan, graph, Detail::Timeline).timeline), ::testing::IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, Golden, ::testing::ValuesIn(testing::golden_plans()),
                         [](const ::testing::TestParamInfo<GoldenPlan>& plan) { return plan.param.name; });

}  // namespace
}  // namespace sim
