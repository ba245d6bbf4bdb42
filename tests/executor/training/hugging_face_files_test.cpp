#include "executor/training/hugging_face_files.h"

#include <ATen/ops/ones.h>

#include <filesystem>
#include <fstream>

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(HuggingFaceFiles, AreReadAsOne) {
  const ScratchFolder folder;
  write_safetensors(folder.file("model-1.safetensors"), std::vector<NamedTensor>{{.name = "model.a", .values = at::ones({2})}});
  write_safetensors(folder.file("model-2.safetensors"), std::vector<NamedTensor>{{.name = "b", .values = at::ones({3})}});
  const HuggingFaceFiles files(folder.file(""));
  EXPECT_EQ(files.find("model.a").numel(), 2);
  EXPECT_EQ(files.find("model.b").numel(), 3) << "without the prefix";
  EXPECT_FALSE(files.find("model.c").defined());
  EXPECT_THAT(files.left_over({"model.b"}), testing::ElementsAre("model.a"));
}

TEST(HuggingFaceFiles, TheTokenizerGoesWithTheModel) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder.file("a"));
  std::ofstream(folder.file("a/tokenizer.json")) << "{}";
  std::ofstream(folder.file("a/notes.txt")) << "mine";
  copy_tokenizer(folder.file("a"), folder.file("b"));
  EXPECT_TRUE(std::filesystem::exists(folder.file("b/tokenizer.json")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("b/notes.txt")));
  copy_tokenizer(folder.file("none"), folder.file("c"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("c")));
}

TEST(HuggingFaceFiles, AFolderWithoutWeightsIsRefused) {
  const ScratchFolder folder;
  EXPECT_THROW(HuggingFaceFiles(folder.file("")), sim::InputError);
}

}  // namespace
}  // namespace executor
