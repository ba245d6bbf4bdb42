#include "gui/core/file_kind.h"

#include <gmock/gmock.h>

#include <fstream>

#include "sim/recipe/recipe.h"
#include "sim/units/input_error.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(FileKind, IsJudgedByContent) {
  const std::string plan = testing::TempDir() + "no_ending";
  sim::save_plan(test::examplePlan(), plan);
  EXPECT_EQ(kindOfFile(plan), FileKind::Plan);
  EXPECT_EQ(kindOfFile("profiles/models/gpt2.json"), FileKind::Model);
  EXPECT_EQ(kindOfFile("profiles/hardware/a100-80gb-sxm.json"), FileKind::Cluster);
  EXPECT_EQ(kindOfFile("profiles/clusters/dgx-a100-64.json"), FileKind::Cluster);
  EXPECT_EQ(kindOfFile(testing::TempDir()), FileKind::RunFolder);
  sim::export_recipe(
      *sim::find_program("accelerate"),
      [] {
        sim::ParallelPlan one = test::examplePlan();
        one.mesh = {.data = 4};
        one.cut = sim::even_cut(one.model.layers, {});
        return one;
      }(),
      testing::TempDir() + "kinds");
  EXPECT_EQ(kindOfFile(testing::TempDir() + "kinds/accelerate.yaml"), FileKind::Recipe);
}

TEST(FileKind, RefusesTheRestWithARemedy) {
  EXPECT_THROW(kindOfFile("no/such/file"), sim::InputError);
  EXPECT_THROW(kindOfFile("/dev/zero"), sim::InputError);
  try {
    kindOfFile("LICENSE");
    FAIL();
  } catch (const sim::InputError& error) {
    EXPECT_THAT(error.violations().front().remedy, testing::HasSubstr("config.json"));
  }
}

}  // namespace
}  // namespace gui
