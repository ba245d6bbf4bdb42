#include "cli/traced_run.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "sim/engine/simulate.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/traced_plan.h"

namespace cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Written {
  sim::ParallelPlan plan;
  std::string plan_file, folder;
  std::string text() const { return plan_file + "=" + folder; }
};

// Two data ranks whose kernels all take the same.
Written write_traces(int ranks) {
  Written written;
  written.plan = gui::test::runnablePlan();
  written.plan.mesh = {.data = 2, .pipeline = 1, .tensor = 1};
  written.plan.cluster.devices = 2;
  written.plan.cut = sim::even_cut(written.plan.model.layers, written.plan.pipeline_shape());
  written.folder = ::testing::TempDir() + "traced_run_" + std::to_string(ranks);
  std::filesystem::remove_all(written.folder);
  std::filesystem::create_directories(written.folder);
  written.plan_file = written.folder + ".plan.json";
  sim::save_plan(written.plan, written.plan_file);
  const gui::SharedPlan simulated = gui::simulatePlan(written.plan);
  for (sim::Rank rank(0); rank.value() < ranks; ++rank)
    sim::save_text_file(gui::test::kinetoOf(gui::test::traceOf(*simulated, rank)),
                        written.folder + "/" + std::to_string(rank.value()) + ".json");
  return written;
}

TEST(TracedRun, PricesMeetWhatWasTraced) {
  const Written written = write_traces(2);
  const TracedRun run = read_traced_run(written.text());
  EXPECT_TRUE(run.has_all_ranks);
  EXPECT_GT(run.joined, 0.5);
  const LearnedByTraces found = learn_by_traces({run}, {});
  const auto mlp = std::ranges::find(found.corrections, "forward.mlp", &sim::Correction::kind);
  ASSERT_NE(mlp, found.corrections.end());
  sim::ParallelPlan corrected = written.plan;
  corrected.cluster = found.learned.cluster;
  corrected.cluster.devices = 2;
  const double off =
      sim::to_seconds(sim::simulate(sim::make_model_graph(corrected), corrected, sim::Detail::Summary).step_time) / *run.step.step - 1;
  const double before =
      sim::to_seconds(sim::simulate(sim::make_model_graph(written.plan), written.plan, sim::Detail::Summary).step_time) / *run.step.step -
      1;
  EXPECT_LT(std::abs(off), 0.2);
  EXPECT_GT(std::abs(before), 2 * std::abs(off));
  EXPECT_THAT(traced_text(found, {run}), HasSubstr("forward.mlp"));
}

TEST(TracedRun, WithoutAllRanksExchangesAreLeftOut) {
  const TracedRun run = read_traced_run(write_traces(1).text());
  EXPECT_FALSE(run.has_all_ranks);
  const LearnedByTraces found = learn_by_traces({run}, {});
  for (const sim::Correction& one : found.corrections) EXPECT_THAT(one.kind, Not(HasSubstr("reduce")));
  EXPECT_THAT(traced_text(found, {run}), HasSubstr("exchanges are left out"));
}

TEST(TracedRun, WhatIsNoneIsRefused) {
  const Written written = write_traces(1);
  EXPECT_THROW(read_traced_run(written.plan_file), sim::InputError);
  EXPECT_THROW(read_traced_run(written.plan_file + "="), sim::InputError);
  EXPECT_THROW(read_traced_run("nowhere.json=" + written.folder), sim::InputError);
  EXPECT_THROW(read_traced_run(written.plan_file + "=tests/gui/import/gpt2_on_cpu.json.gz"), sim::InputError);  // another network
}

}  // namespace
}  // namespace cli
