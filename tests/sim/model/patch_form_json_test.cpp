#include "sim/model/patch_form_json.h"

#include <gmock/gmock.h>

#include "sim/model/model_graph.h"
#include "sim/units/input_error.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

ModelConfig vit() { return load_model_config("profiles/models/vit-base-patch16-224.json"); }

TEST(PatchForm, ASampleIsItsPatchesAndOneTokenInFront) {
  const ModelConfig config = vit();
  EXPECT_EQ(config.patches->tokens(), 14 * 14 + 1);
  EXPECT_EQ(config.max_positions, 197);
  EXPECT_EQ(config.vocabulary, 1000);
  EXPECT_EQ(model_config_from_json(to_json(config), "again"), config);
}

// Dosovitskiy et al. 2021, table 1: 86 million without the head of 1000 classes.
TEST(PatchForm, HasThePaperSParameters) { EXPECT_EQ(num_parameters(make_model_graph(vit(), {1})) / 1'000'000, 86); }

TEST(PatchForm, APatchIsNoLargerThanItsImage) {
  Json json = to_json(vit());
  json["patch_size"] = 300;
  EXPECT_THROW(model_config_from_json(json, "config.json"), InputError);
}

}  // namespace
}  // namespace sim
