#include <algorithm>
#include <fstream>
#include <iterator>

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

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Whatever bit is changed, the index is refused: or its content is the same, as where a space is a tab.
TEST(CheckpointIndex, NoChangedBitPasses) {
  const ScratchFolder folder;
  const std::string path = folder.file("index.json"), changed = folder.file("changed.json"), again = folder.file("again.json");
  save_index({.state = {.steps = {7}, .loss_scale = {}, .samples = SampleCount{56}, .data = "abc"},
              .plan = tiny_plan(),
              .hashes = {{"rank_0.safetensors", {{"weight:a", "00ff"}}}},
              .headers = {{"rank_0.safetensors", "1234"}}},
             path);
  const std::string text = contents(path);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] = static_cast<char>(other[at] ^ (1 << at % 7));
    std::ofstream(changed) << other;
    try {
      save_index(load_index(changed), again);
      EXPECT_EQ(contents(again), text) << "byte " << at << " of " << other.substr(at - std::min<std::size_t>(at, 20), 40);
    } catch (const sim::InputError&) {
    }
  }
}

TEST(CheckpointIndex, TheFirstFormatIsStillRead) {
  const ScratchFolder folder;
  save_index({.state = {.steps = {7}, .loss_scale = {}}, .plan = tiny_plan(), .hashes = {}}, folder.file("index.json"));
  std::string text = contents(folder.file("index.json"));
  text.replace(text.find("checkpoint/2"), 12, "checkpoint/1");
  std::ofstream(folder.file("index.json")) << text;
  EXPECT_THROW(load_index(folder.file("index.json")), sim::InputError) << "a hash that is there counts";
  const std::size_t hash = text.rfind(",", text.find("hash_of_this_index"));
  text.replace(hash, text.rfind('}') - hash, "");
  std::ofstream(folder.file("index.json")) << text;
  EXPECT_EQ(load_index(folder.file("index.json")).state.steps.value, 7);
}

TEST(CheckpointIndex, OtherFilesAreRefused) {
  const ScratchFolder folder;
  std::ofstream(folder.file("index.json")) << R"({"format":"something","steps":1,"files":{}})";
  EXPECT_THROW(load_index(folder.file("index.json")), sim::InputError);
}

}  // namespace
}  // namespace executor
