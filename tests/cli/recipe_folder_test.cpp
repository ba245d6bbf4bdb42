#include "cli/recipe_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace cli {
namespace {

using testing::HasSubstr;

class RecipeFolder : public testing::Test {
 protected:
  RecipeFolder() { std::filesystem::create_directories(folder_); }
  ~RecipeFolder() override { std::filesystem::remove_all(folder_); }
  void put(const std::string& name, const std::string& text) const { std::ofstream(folder_ + "/" + name) << text; }
  std::string refusal() const {
    try {
      look_into(folder_);
      return "";
    } catch (const sim::InputError& error) {
      return error.what();
    }
  }
  const std::string folder_ = testing::TempDir() + "folder_" + std::to_string(::getpid());
};

constexpr const char* kOfDeepSpeed = R"({"zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": 1})";

TEST_F(RecipeFolder, TheFileThatNamesTheOtherStartsIt) {
  put("ds.json", kOfDeepSpeed);
  EXPECT_EQ(look_into(folder_).recipe, folder_ + "/ds.json");
  put("run.yaml", "distributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: ds.json\n");
  const FolderOfRecipes found = look_into(folder_);
  EXPECT_EQ(found.recipe, folder_ + "/run.yaml");
  ASSERT_EQ(found.told.size(), 1U);
  EXPECT_THAT(found.told.front().problem, HasSubstr("it names ds.json (DeepSpeed)"));
  EXPECT_EQ(found.model, "");
}

TEST_F(RecipeFolder, SeveralAreNamed) {
  put("a.json", kOfDeepSpeed);
  put("b.json", kOfDeepSpeed);
  EXPECT_THAT(refusal(), HasSubstr("holds several: a.json (DeepSpeed), b.json (DeepSpeed)"));
}

TEST_F(RecipeFolder, ANetworkAlone) {
  EXPECT_THAT(refusal(), HasSubstr("holds no configuration of a known program"));
  put("config.json", R"({"model_type": "llama", "hidden_size": 64})");
  EXPECT_THAT(refusal(), HasSubstr("but a network: config.json"));
  put("ds.json", kOfDeepSpeed);
  EXPECT_EQ(look_into(folder_).model, folder_ + "/config.json");
}

}  // namespace
}  // namespace cli
