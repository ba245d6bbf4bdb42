#include <gmock/gmock.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "sim/timeline/trace.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "tests/cli/simulated_run.h"

namespace cli {
namespace {

using testing::HasSubstr;

CompareOptions compare_options(const std::string& folder) {
  CompareOptions options;
  options.run = folder;
  return options;
}

std::string compare(const std::string& folder) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(compare_options(folder), Console(Form::Text)), kSuccess);
  return testing::internal::GetCapturedStdout();
}

TEST(Compare, ASimulationAgainstItselfHasNoError) {
  const std::string text = compare(test::write_simulated_run(test::simulated_plan(), "equal"));
  EXPECT_THAT(text, HasSubstr("+0.0 %"));
  EXPECT_THAT(text, HasSubstr("ledger: equal"));
  EXPECT_THAT(text, HasSubstr("Every simulated task has its measured partner"));
}

TEST(Compare, APlantedSlowdownShows) {
  const std::string text = compare(test::write_simulated_run(test::simulated_plan(), "slow", {.factor = 2.0}));
  EXPECT_THAT(text, testing::ContainsRegex("forward\\.mlp .*-50\\.0 %"));
}

TEST(Compare, AFolderOfTwoPlansIsRefused) {
  sim::ParallelPlan plan = test::simulated_plan();
  const std::string folder = test::write_simulated_run(plan, "mixed");
  plan.zero_stage = 1;
  sim::save_plan(plan, folder + "/plan.json");
  EXPECT_THROW(run(compare_options(folder), Console(Form::Text)), sim::InputError);
}

TEST(Compare, ARankWithoutATraceIsRefused) {
  const sim::ParallelPlan plan = test::simulated_plan();
  ASSERT_GT(plan.mesh.ranks(), 1);
  const std::string folder = test::write_simulated_run(plan, "incomplete");
  std::filesystem::remove(folder + "/" + sim::trace_file_name(sim::Rank(plan.mesh.ranks() - 1)));
  EXPECT_THROW(run(compare_options(folder), Console(Form::Text)), sim::InputError);
}

TEST(Compare, AFolderThatIsNoRunIsRefused) { EXPECT_THROW(run(compare_options("profiles"), Console(Form::Text)), sim::InputError); }

TEST(Compare, DrawsBothAndPricesByAnotherProfile) {
  CompareOptions drawn = compare_options(test::write_simulated_run(test::simulated_plan(), "drawn"));
  drawn.text = true;
  drawn.cluster = "h100-80gb-sxm";
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(drawn, Console(Form::Text)), kSuccess);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, testing::ContainsRegex("Simulated\nrank 0 .*F"));
  EXPECT_THAT(text, testing::ContainsRegex("step +2 .*-[0-9.]+ %")) << "an H100 is faster than the A100 of the run";
}

TEST(Compare, WritesBothTimelinesIntoOneFile) {
  CompareOptions written = compare_options(test::write_simulated_run(test::simulated_plan(), "written"));
  for (const char* ending : {".json", ".perfetto-trace"}) {
    written.timeline = written.run + "/both" + ending;
    testing::internal::CaptureStdout();
    EXPECT_EQ(run(written, Console(Form::Text)), kSuccess);
    EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("Both timelines: "));
    const std::string trace = sim::load_text_file(written.timeline);
    EXPECT_THAT(trace, HasSubstr("simulated: "));
    EXPECT_THAT(trace, testing::AnyOf(HasSubstr("measured, step 1: "), HasSubstr("measured, step 2: "))) << "equal but for nanoseconds";
    EXPECT_THAT(trace, HasSubstr("link load"));
  }
  written.timeline = written.run + "/trace.0.json";
  EXPECT_THROW(run(written, Console(Form::Text)), sim::InputError) << "it is read";
}

}  // namespace
}  // namespace cli
