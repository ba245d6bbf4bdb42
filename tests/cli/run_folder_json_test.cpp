#include "cli/run_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sim/units/input_error.h"

namespace cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The smallest plan that can be written and read: the rules of sim/plan are not what is tested here.
sim::ParallelPlan small_plan() {
  sim::ParallelPlan plan;
  plan.model = {.model_type = "gpt2",
                .layers = 2,
                .hidden = 8,
                .heads = 2,
                .kv_heads = 2,
                .head_dim = 4,
                .ffn = 32,
                .vocabulary = 256,
                .max_positions = 16};
  plan.cluster.hardware.name = "test";
  plan.cluster.hardware.kind = sim::DeviceKind::Cpu;
  plan.cluster.hardware.source = "a test";
  plan.cluster.hardware.date = "2026-01-01";
  plan.cluster.hardware.memory = sim::Bytes(1 << 30);
  plan.cluster.hardware.memory_bandwidth = sim::BytesPerSecond(1e10);
  plan.cluster.hardware.peak.fill(sim::FlopsPerSecond(1e11));
  plan.workload = {.sequence = 16, .global_batch = 2};
  plan.cut = sim::even_cut(2, {});
  return plan;
}

RunOptions run_options(const std::string& name) {
  const std::string folder = testing::TempDir() + "run_folder_" + name;
  std::filesystem::remove_all(folder);
  make_run_folder(folder);
  RunOptions options;
  options.plan = "plan.json";
  options.data = "tokens.bin";
  options.output = folder;
  options.steps = 2;
  return options;
}

TEST(RunFolder, KeepsAnEarlierRun) {
  const RunOptions run = run_options("keeps");
  prepare_run_folder(run, small_plan());
  EXPECT_TRUE(std::filesystem::exists(run.output + "/versions.json"));
  std::ofstream(run.output + "/metrics.ndjson") << "{}\n";
  EXPECT_THROW(prepare_run_folder(run, small_plan()), sim::InputError);
}

TEST(RunFolder, OfARunThatNeverTookAStepIsFree) {
  const RunOptions run = run_options("refused");
  prepare_run_folder(run, small_plan());
  std::ofstream(run.output + "/stderr.0.txt") << "error: no weights\n";
  EXPECT_NO_THROW(prepare_run_folder(run, small_plan()));
}

TEST(RunFolder, ResumesUnderAnotherLayoutButNothingElse) {
  RunOptions run = run_options("resumes");
  run.resume = true;
  EXPECT_THROW(prepare_run_folder(run, small_plan()), sim::InputError);
  run.resume = false;
  prepare_run_folder(run, small_plan());
  run.resume = true;
  prepare_run_folder(run, small_plan());
  sim::ParallelPlan other = small_plan();
  other.zero_stage = 1;
  EXPECT_THAT(prepare_run_folder(run, other), ElementsAre("/zero_stage: 0 before, 1 now"));
  EXPECT_EQ(sim::load_plan(run.output + "/plan.json").zero_stage, 1);
  other.training.seed = 5;
  try {
    prepare_run_folder(run, other);
    FAIL();
  } catch (const sim::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/training/seed"));
  }
}

TEST(RunFolder, ReadsWholeMetricLinesOnly) {
  for (const char* line : {R"({"step": 3, "los)", R"({"step": "3", "loss": 1})", R"([3])", ""})
    EXPECT_EQ(parse_metrics(line), std::nullopt) << line;
  EXPECT_EQ(parse_metrics(R"({"step": 3, "loss": null, "tokens_per_second": null})")->tokens_per_second, 0);
  const auto metrics = parse_metrics(R"({"step": 3, "loss": 2.5, "tokens_per_second": 100.0})");
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->step, 3);
  EXPECT_EQ(metrics->loss, 2.5);
}

TEST(RunFolder, MedianOfNothingIsZero) {
  EXPECT_EQ(median_tokens_per_second({}), 0);
  EXPECT_EQ(median_tokens_per_second({{1, 0, 10}, {2, 0, 30}, {3, 0, 20}}), 20);
}

}  // namespace
}  // namespace cli
