#include "cli/trace_comparison.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/traced_plan.h"

namespace cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// As profiles/models/tiny-gpt2.json was trained for the trace: 8 samples of 64 tokens, one device.
sim::ParallelPlan plan_of_trace() {
  sim::ParallelPlan plan = gui::test::runnablePlan();
  plan.model = sim::load_model_config("profiles/models/tiny-gpt2.json");
  plan.mesh = {.data = 1, .pipeline = 1, .tensor = 1};
  plan.cluster.devices = 1;
  plan.workload.sequence = 64;
  plan.workload.global_batch = 8;
  plan.microbatch_size = 8;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

const sim::ErrorRow& row_of(const std::vector<sim::ErrorRow>& rows, const std::string& name) {
  const auto found = std::ranges::find(rows, name, &sim::ErrorRow::name);
  return found == rows.end() ? rows.front() : *found;
}

TEST(TraceComparison, HuggingFacesGpt2OnACpu) {
  const TraceComparison found = compare_with_trace(plan_of_trace(), {"tests/gui/import/gpt2_on_cpu.json.gz"});
  EXPECT_EQ(found.ranks, 1);
  EXPECT_THAT(found.why_not, IsEmpty());
  EXPECT_GT(found.joined, 0.9);
  EXPECT_GT(row_of(found.kinds, "forward.mlp").measured.count(), 0);
  EXPECT_GT(row_of(found.kinds, "backward.attention").measured.count(), 0);
  EXPECT_EQ(found.unjoined.front().kernel, "aten::fill_");
  EXPECT_THAT(trace_comparison_text(found, Console(Form::Text)),
              AllOf(HasSubstr("forward.mlp"), HasSubstr("aten::fill_"), HasSubstr("Only simulated")));
}

// A trace of a program that performs the plan as it is, a file a rank; the longest takes what its kernels take.
TEST(TraceComparison, AFolderOfTheRanksOfAGpuProgram) {
  sim::ParallelPlan plan = plan_of_trace();
  plan.mesh.data = plan.cluster.devices = 2;
  plan.workload.global_batch = 16;
  const gui::SharedPlan simulated = gui::simulatePlan(plan);
  const std::string folder = ::testing::TempDir() + "traces_of_ranks";
  std::filesystem::create_directories(folder);
  sim::SimTime longest{};
  for (sim::Rank rank(0); rank.value() < 2; ++rank) {
    const gui::TracedRank trace = gui::test::traceOf(*simulated, rank);
    longest = std::max(longest, trace.length);
    sim::save_text_file(gui::test::kinetoOf(trace), folder + "/rank" + std::to_string(rank.value()) + ".json");
  }
  const TraceComparison found = compare_with_trace(plan, {folder});
  EXPECT_EQ(found.ranks, 2);
  EXPECT_THAT(found.why_not, IsEmpty());
  EXPECT_DOUBLE_EQ(found.step.measured.count(), sim::to_seconds(longest).count());
  ASSERT_EQ(found.unjoined.size(), 1u);
  EXPECT_EQ(found.unjoined.front().kernel, "multi_tensor_apply_kernel");
  EXPECT_EQ(found.unjoined.front().kernels, 2);
}

TEST(TraceComparison, AnotherNetworksTraceSaysWhyNot) {
  sim::ParallelPlan plan = plan_of_trace();
  plan.model.layers = 3;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  const TraceComparison found = compare_with_trace(plan, {"tests/gui/import/gpt2_on_cpu.json.gz"});
  EXPECT_THAT(found.why_not, ElementsAre(HasSubstr("are not those of the plan")));
  EXPECT_THAT(trace_comparison_text(found, Console(Form::Text)),
              AllOf(HasSubstr("are not those of the plan"), Not(HasSubstr("forward.mlp "))));
}

TEST(TraceComparison, WhatIsMissingIsTold) {
  const gui::SharedPlan simulated = gui::simulatePlan(plan_of_trace());
  const std::string whole = gui::test::kinetoOf(gui::test::traceOf(*simulated, sim::Rank(0))), folder = ::testing::TempDir() + "cut_traces";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  sim::save_text_file(whole.substr(0, whole.size() / 2), folder + "/cut.json");
  const TraceComparison found = compare_with_trace(plan_of_trace(), {folder});
  EXPECT_THAT(found.notes, ::testing::IsSupersetOf({HasSubstr("ends before its events do"), HasSubstr("No step is marked")}));
  EXPECT_THAT(trace_comparison_text(found, Console(Form::Text)), HasSubstr("ends before"));
  EXPECT_TRUE(join_traces(plan_of_trace(), {folder}).is_cut);
  sim::save_text_file(whole, folder + "/whole.json");
  EXPECT_THROW(compare_with_trace(plan_of_trace(), {folder}), sim::InputError);  // two of rank 0
}

TEST(TraceComparison, WhatIsNoTraceIsRefused) {
  const std::string empty = ::testing::TempDir() + "no_traces";
  std::filesystem::create_directories(empty);
  EXPECT_THROW(compare_with_trace(plan_of_trace(), {empty}), sim::InputError);
  EXPECT_THROW(compare_with_trace(plan_of_trace(), {"README.md"}), sim::InputError);
  EXPECT_THROW(compare_with_trace(plan_of_trace(), {empty + "/nowhere.json"}), sim::InputError);
}

}  // namespace
}  // namespace cli
