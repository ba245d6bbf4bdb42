// On one rank; between layouts of several ranks: tests/parity/relayout_test.cpp.
#include "executor/training/saved_state.h"

#include "sim/units/input_error.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

sim::ParallelPlan otherwise() {
  sim::ParallelPlan plan = tiny_plan();
  plan.vocabulary_multiple = 5;  // 13 tokens: 15 rows instead of 14
  plan.bucket_size = sim::Bytes(1024);
  plan.microbatch_size = 2;
  return plan;
}

struct Job {
  explicit Job(const sim::ParallelPlan& plan) : training(plan) {}
  RunState load(const std::string& folder) {
    return Checkpoints(folder, training.plan, training.communicators, faults).load(training.parameters);
  }
  void save(const std::string& folder) {
    Checkpoints(folder, training.plan, training.communicators, faults)
        .save(training.parameters, {.steps = {1}, .loss_scale = {.scale = 4}});
  }
  std::map<std::string, at::Tensor> tensors() {
    std::map<std::string, at::Tensor> all;
    for (const NamedTensor& tensor : checkpoint_tensors(training.parameters)) all[tensor.name] = tensor.values.clone();
    return all;
  }
  FaultPoints faults;
  Training training;
};

TEST(SavedState, StateHasTheSameBits) {
  const ScratchFolder folder;
  Job saved(tiny_plan()), other(otherwise());
  saved.training.step(0);
  saved.save(folder.file("a"));
  EXPECT_EQ(other.load(folder.file("a")).loss_scale.scale, 4);
  const auto before = saved.tensors(), after = other.tensors();
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [name, values] : before) {
    const std::int64_t rows = values.size(0);
    EXPECT_TRUE(at::equal(after.at(name).narrow(0, 0, std::min(rows, after.at(name).size(0))), values)) << name;
  }
  EXPECT_EQ(after.at("weight:embedding.tokens.weight")[14].abs().max().item<double>(), 0.0) << "a row that was not there before";
}

TEST(SavedState, AMissingTensorIsNamed) {
  const ScratchFolder folder;
  Job saved(tiny_plan()), other(otherwise());
  saved.save(folder.file("a"));
  CheckpointIndex index = load_index(folder.file("a/step_00000001/index.json"));
  index.hashes.at("rank_0.safetensors").erase("moment2:head.norm.bias");
  save_index(index, folder.file("a/step_00000001/index.json"));
  EXPECT_THAT([&] { other.load(folder.file("a")); },
              testing::ThrowsMessage<sim::InputError>(testing::HasSubstr("moment2:head.norm.bias is missing")));
}

}  // namespace
}  // namespace executor
