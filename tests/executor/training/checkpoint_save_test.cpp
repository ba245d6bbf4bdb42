// Saving beside training: what is saved, when it is seen, and what is said when it cannot be written.
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "executor/training/checkpoint.h"
#include "sim/units/input_error.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Saving {
  FaultPoints faults;
  Training training{tiny_plan()};
  std::string folder = training.folder.file("checkpoints");
  Checkpoints checkpoints{folder, training.plan, training.communicators, faults};

  void wait_until_written() const {
    while (!checkpoints.has_written()) std::this_thread::yield();
  }
};

TEST(CheckpointSave, HoldsTheStateOfItsBeginning) {
  Saving saving;
  saving.training.step(0);
  const at::Tensor then = saving.training.weights();
  saving.checkpoints.begin_save(saving.training.parameters, {.steps = {1}, .loss_scale = {}});
  saving.training.step(1);
  EXPECT_FALSE(at::equal(saving.training.weights(), then));
  saving.checkpoints.finish_save();
  EXPECT_EQ(saving.checkpoints.load(saving.training.parameters).steps.value, 1);
  EXPECT_TRUE(at::equal(saving.training.weights(), then));
}

TEST(CheckpointSave, IsSeenOnceAllHaveWritten) {
  Saving saving;
  EXPECT_FALSE(saving.checkpoints.has_written());
  saving.checkpoints.begin_save(saving.training.parameters, {.steps = {1}, .loss_scale = {}});
  saving.wait_until_written();
  EXPECT_TRUE(saved_steps(saving.folder).empty());
  saving.checkpoints.end_step(/*all_have_written=*/true);
  saving.checkpoints.finish_save();
  EXPECT_EQ(saved_steps(saving.folder), std::vector<std::int64_t>{1});
}

TEST(CheckpointSave, TheNextOneWaits) {
  Saving saving;
  for (const std::int64_t steps : {1, 2}) saving.checkpoints.begin_save(saving.training.parameters, {.steps = {steps}, .loss_scale = {}});
  EXPECT_EQ(saved_steps(saving.folder), std::vector<std::int64_t>{1});
  saving.checkpoints.finish_save();
  EXPECT_EQ(saved_steps(saving.folder), (std::vector<std::int64_t>{1, 2}));
}

TEST(CheckpointSave, AnErrorIsToldByTheNextStep) {
  Saving saving;
  saving.checkpoints.begin_save(saving.training.parameters, {.steps = {1}, .loss_scale = {}});
  saving.wait_until_written();
  std::filesystem::remove(saving.folder + "/.step_00000001/rank_0.safetensors.json");  // the commit will miss it
  const auto until_told = [&] {
    saving.checkpoints.end_step(/*all_have_written=*/true);
    for (;;) saving.checkpoints.end_step(false);
  };
  EXPECT_THAT(until_told, ThrowsMessage<sim::InputError>(HasSubstr("rank_0.safetensors.json")));
  EXPECT_TRUE(saved_steps(saving.folder).empty());
}

TEST(CheckpointSave, FoldersThatSomeoneKeptAreNoneOfTheRuns) {
  Saving saving;
  for (const char* name : {"step_best", "step_00000009.kept"}) {
    std::filesystem::create_directories(saving.folder + "/" + name);
    std::ofstream(saving.folder + "/" + name + "/index.json") << "{}";
  }
  saving.checkpoints.save(saving.training.parameters, {.steps = {1}, .loss_scale = {}});
  EXPECT_EQ(saved_steps(saving.folder), std::vector<std::int64_t>{1});
}

TEST(CheckpointSave, ADiskThatIsTooSmallIsToldBeforeTheFirstStep) {
  const Saving saving;
  EXPECT_FALSE(std::filesystem::exists(saving.folder));
  const std::vector<NamedTensor> endless{{.name = "weight", .values = at::zeros({1}).expand({std::int64_t{1} << 50})}};
  EXPECT_THAT([&] { saving.checkpoints.require_space(endless); }, ThrowsMessage<sim::InputError>(HasSubstr("a checkpoint takes 4096 TiB")));
  EXPECT_NO_THROW(saving.checkpoints.require_space({}));
}

TEST(CheckpointSave, WhatADeadRunLeftIsRemoved) {
  Saving saving;
  std::filesystem::create_directories(saving.folder + "/.step_00000007");
  std::filesystem::create_directories(saving.folder + "/.removed/x");
  saving.checkpoints.save(saving.training.parameters, {.steps = {1}, .loss_scale = {}});
  EXPECT_FALSE(std::filesystem::exists(saving.folder + "/.step_00000007"));
  EXPECT_FALSE(std::filesystem::exists(saving.folder + "/.removed"));
}

}  // namespace
}  // namespace executor
