#include "cli/recipe_text.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace cli {
namespace {

using testing::HasSubstr;

TEST(RecipeText, NamesFilesAndWhatDidNotGoWithThem) {
  const sim::ParallelPlan plan = sim::testing::tiny_plan({.data = 2});
  const std::string text = recipe_text(sim::kAccelerate, sim::make_recipe(sim::kAccelerate, plan), "out");
  EXPECT_THAT(text, HasSubstr("For Accelerate 1.15.0: out/accelerate.yaml\n\nLeft to the program, or otherwise there\n  /workload: "
                              "sequence 32, global batch 8"));
  EXPECT_THAT(text, HasSubstr("\n    use per_device_train_batch_size=1 and gradient_accumulation_steps=4"));
}

TEST(RecipeText, SaysWhatAPlanBecame) {
  sim::ImportedPlan imported{sim::testing::tiny_plan({.data = 2}), &sim::kMegatron, {}};
  EXPECT_EQ(import_text(imported, "p.json"),
            "Megatron-LM core_v0.16.1\n\ngpt2 (220 K), sequence 32, global batch 8, fp32\ndata 2 x tensor 1 x pipeline 1, one stage, 4 "
            "microbatches of 1, zero 0, recompute none\n\nPlan file: p.json, to be priced with the speed of meshwright on test-machine "
            "(meshwright simulate says what it costs)");
  std::vector<sim::Violation> wrong;
  imported.plan.model.adapters = sim::parse_adapters("rank 4 on q,v", wrong);
  imported.plan.workload.optimizer = sim::OptimizerKind::Sgd;
  EXPECT_THAT(import_text(imported, "p.json"), HasSubstr("global batch 8, fp32, optimizer sgd, adapters rank 4 on q,v\n"));
}

}  // namespace
}  // namespace cli
