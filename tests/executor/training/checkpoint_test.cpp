#include "executor/training/checkpoint.h"

#include "sim/units/input_error.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Saved {
  explicit Saved(sim::ParallelPlan plan = tiny_plan())
      : training(std::move(plan)), checkpoints(training.folder.file("checkpoints"), training.plan, training.communicators, faults) {}
  std::string file(const std::string& name) const { return training.folder.file("checkpoints/" + name); }
  FaultPoints faults;
  Training training;
  Checkpoints checkpoints;
};

TEST(Checkpoint, ResumedRunIsBitwiseTheUndisturbedOne) {
  Saved saved;
  for (std::int64_t step = 0; step < 3; ++step) saved.training.step(step);
  saved.checkpoints.save(saved.training.parameters, {.steps = {3}, .loss_scale = {}});
  const StepSummary fourth = saved.training.step(3);
  const at::Tensor undisturbed = saved.training.weights();

  Training resumed(tiny_plan());
  FaultPoints faults;
  Checkpoints checkpoints(saved.file(""), resumed.plan, resumed.communicators, faults);
  EXPECT_EQ(checkpoints.load(resumed.parameters).steps.value, 3);
  EXPECT_EQ(resumed.step(3).loss, fourth.loss);
  EXPECT_TRUE(at::equal(resumed.weights(), undisturbed));
}

TEST(Checkpoint, KeepsTheLastOnes) {
  Saved saved;
  for (const std::int64_t steps : {1, 2, 3, 4}) saved.checkpoints.save(saved.training.parameters, {.steps = {steps}, .loss_scale = {}});
  EXPECT_FALSE(std::filesystem::exists(saved.file("step_00000002")));
  EXPECT_TRUE(std::filesystem::exists(saved.file("step_00000003/index.json")));
  EXPECT_TRUE(std::filesystem::exists(saved.file("step_00000004/index.json")));
}

TEST(Checkpoint, FlippedBitNamesTheTensor) {
  Saved saved;
  saved.checkpoints.save(saved.training.parameters, {.steps = {1}, .loss_scale = {}});
  const std::string path = saved.file("step_00000001/rank_0.safetensors");
  const SafetensorsFile file(path);
  const auto begin = file.entries().at("weight:layers.1.mlp.up.weight").begin;
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  std::uint64_t header = 0;
  stream.read(reinterpret_cast<char*>(&header), sizeof header);
  const auto position = static_cast<std::streamoff>(sizeof header + header + begin + 5);
  stream.seekg(position);
  const int byte = stream.get();
  stream.seekp(position);
  stream.put(static_cast<char>(byte ^ 4));
  stream.close();
  EXPECT_THAT([&] { saved.checkpoints.load(saved.training.parameters); },
              ThrowsMessage<sim::InputError>(HasSubstr("tensor weight:layers.1.mlp.up.weight is damaged")));
}

TEST(Checkpoint, AnotherPlanIsRefusedByField) {
  Saved saved;
  saved.checkpoints.save(saved.training.parameters, {.steps = {1}, .loss_scale = {}});
  sim::ParallelPlan other = tiny_plan();
  other.training.beta1 = 0.5;
  Checkpoints checkpoints(saved.file(""), other, saved.training.communicators, saved.faults);
  EXPECT_THAT([&] { checkpoints.load(saved.training.parameters); }, ThrowsMessage<sim::InputError>(HasSubstr("beta1")));
}

TEST(Checkpoint, SettingsThatMayChangeAreTold) {
  Saved saved;
  saved.checkpoints.save(saved.training.parameters, {.steps = {1}, .loss_scale = {}, .samples = {}, .data = "abc"});
  sim::ParallelPlan other = tiny_plan();
  other.training.learning_rate = 0.5;
  Checkpoints checkpoints(saved.file(""), other, saved.training.communicators, saved.faults);
  const RunState state = checkpoints.load(saved.training.parameters);
  EXPECT_THAT(state.changes, testing::ElementsAre(testing::StartsWith("/training/learning_rate: ")));
  EXPECT_EQ(state.samples->value, tiny_plan().workload.global_batch);
  EXPECT_EQ(state.data, "abc");
}

// The same number of numbers of another type: a hash of the tensors' bytes alone would not see it.
TEST(Checkpoint, AChangedHeaderIsRefused) {
  Saved saved;
  saved.checkpoints.save(saved.training.parameters, {.steps = {1}, .loss_scale = {}});
  const std::string path = saved.file("step_00000001/rank_0.safetensors");
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string text(4000, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  stream.clear();
  const std::size_t shape = text.find("[16,13]") != std::string::npos ? text.find("[16,13]") : text.find("\"shape\":[") + 9;
  stream.seekp(static_cast<std::streamoff>(text.find(',', shape)));
  stream.put(' ');
  stream.close();
  EXPECT_THROW(saved.checkpoints.load(saved.training.parameters), sim::InputError);
}

TEST(Checkpoint, ARenamedFolderIsRefused) {
  Saved saved;
  saved.checkpoints.save(saved.training.parameters, {.steps = {1}, .loss_scale = {}});
  std::filesystem::rename(saved.file("step_00000001"), saved.file("step_00000009"));
  EXPECT_THAT([&] { saved.checkpoints.load(saved.training.parameters); },
              ThrowsMessage<sim::InputError>(HasSubstr("give the folder its name back: step_00000001")));
}

TEST(Checkpoint, UnfinishedOnesAreInvisible) {
  Saved saved;
  std::filesystem::create_directories(saved.file(".step_00000009"));
  std::filesystem::create_directories(saved.file("step_00000008"));  // no index
  EXPECT_THAT([&] { saved.checkpoints.load(saved.training.parameters); },
              ThrowsMessage<sim::InputError>(HasSubstr("holds no complete checkpoint")));
}

}  // namespace
}  // namespace executor
