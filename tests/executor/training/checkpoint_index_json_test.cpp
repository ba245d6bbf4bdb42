#include "executor/training/checkpoint.h"
#include "sim/units/input_error.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(CheckpointIndex, RoundTrip) {
  const ScratchFolder folder;
  save_index({.state = {.steps = {7}, .loss_scale = {.scale = 512, .good_steps = 3, .forgiven = 1, .skipped_steps = 2}},
              .plan = tiny_plan(),
              .hashes = {{"rank_0.safetensors", {{"weight:a", "00ff"}}}}},
             folder.file("index.json"));
  const CheckpointIndex index = load_index(folder.file("index.json"));
  EXPECT_EQ(index.state.steps.value, 7);
  EXPECT_EQ(index.state.loss_scale, (LossScaleState{.scale = 512, .good_steps = 3, .forgiven = 1, .skipped_steps = 2}));
  EXPECT_EQ(index.hashes.at("rank_0.safetensors").at("weight:a"), "00ff");
  EXPECT_THAT(sim::differences(index.plan, tiny_plan()).layout, testing::IsEmpty());
}

TEST(CheckpointIndex, OtherFilesAreRefused) {
  const ScratchFolder folder;
  std::ofstream(folder.file("index.json")) << R"({"format":"something","steps":1,"files":{}})";
  EXPECT_THROW(load_index(folder.file("index.json")), sim::InputError);
}

}  // namespace
}  // namespace executor
