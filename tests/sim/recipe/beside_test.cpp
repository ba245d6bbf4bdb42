#include "sim/recipe/beside.h"

#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

TEST(Beside, AFileOfTheRecipesOwnOrOneBesideIt) {
  const std::string folder = testing::recipe_folder();
  std::ofstream(folder + "/sizes.toml") << "[training]\nseq_len = 32\n";
  const Texts given;
  const RecipeSource source{"", folder + "/given", given, kTorchtitan};
  RecipeReading reading;
  EXPECT_EQ(text_beside(source, reading, {"file", "elsewhere/sizes.toml"}), "[training]\nseq_len = 32\n");
  std::filesystem::create_directories(folder + "/deeper");
  std::ofstream(folder + "/deeper/sizes.toml") << "deeper\n";
  EXPECT_EQ(text_beside(source, reading, {"file", "deeper/sizes.toml"}), "deeper\n");
  EXPECT_EQ(text_beside(source, reading, {"file", "deeper/../sizes.toml"}), "[training]\nseq_len = 32\n");
  const std::string dated = "/tmp/" + unknown_value("$(date)") + ".yaml";
  reading.documents[dated] = "a: 1";
  EXPECT_EQ(text_beside(source, reading, {"file", dated}), "a: 1");
  reading.documents["x.json"] = "{}";
  EXPECT_EQ(text_beside(source, reading, {"file", "x.json"}), "{}");
  const auto refusal = [&](const std::string& value) {
    try {
      return text_beside(source, reading, {"file", value});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refusal("a/none.toml"), HasSubstr("copy it there as none.toml"));
  EXPECT_THAT(refusal(unknown_value("CONFIG")), HasSubstr("--set CONFIG="));
  EXPECT_EQ(text_beside(source, reading, {"file", unknown_value("PWD") + "/configs/sizes.toml"}), "[training]\nseq_len = 32\n");
  EXPECT_THAT(refusal(unknown_value("PWD") + "/none.toml"), HasSubstr("names $PWD/none.toml"));
}

}  // namespace
}  // namespace sim
