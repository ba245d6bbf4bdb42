#include "executor/training/checkpoint.h"
#include "sim/units/input_error.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(CheckpointIndex, RoundTrip) {
  const ScratchFolder folder;
  save_index({.steps = {7}, .plan = tiny_plan(), .hashes = {{"rank_0.safetensors", {{"weight:a", "00ff"}}}}}, folder.file("index.json"));
  const CheckpointIndex index = load_index(folder.file("index.json"));
  EXPECT_EQ(index.steps.value, 7);
  EXPECT_EQ(index.hashes.at("rank_0.safetensors").at("weight:a"), "00ff");
  EXPECT_THAT(plan_differences(index.plan, tiny_plan()), testing::IsEmpty());
}

TEST(CheckpointIndex, DifferencesNameTheField) {
  sim::ParallelPlan other = tiny_plan();
  other.training.seed = 9;
  other.training.keep_last = 77;  // may change
  other.microbatch_size = 2;
  EXPECT_THAT(plan_differences(tiny_plan(), other),
              testing::UnorderedElementsAre("/training/seed: 1 in the checkpoint, 9 now", "/microbatch_size: 1 in the checkpoint, 2 now",
                                            testing::StartsWith("/microbatches")));
}

TEST(CheckpointIndex, OtherFilesAreRefused) {
  const ScratchFolder folder;
  std::ofstream(folder.file("index.json")) << R"({"format":"something","steps":1,"files":{}})";
  EXPECT_THROW(load_index(folder.file("index.json")), sim::InputError);
}

}  // namespace
}  // namespace executor
