#include <algorithm>

#include "sim/recipe/megatron_core.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

TEST(MegatronCoreNames, NoNameStandsTwice) {
  for (const CoreProgram program : {CoreProgram::Bridge, CoreProgram::Nemo}) {
    std::vector<std::string> names;
    for (const Field& field : core_fields(program)) {
      names.emplace_back(field.key);
      EXPECT_NE(field.read, nullptr) << field.key;
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << *std::adjacent_find(names.begin(), names.end());
  }
}

TEST(MegatronCoreNames, EachProgramHasItsOwnSections) {
  const auto has = [](const Program& program, const std::string& key) { return field_of(program, key) != nullptr; };
  EXPECT_TRUE(has(kMegatronBridge, "model.tensor_model_parallel_size"));
  EXPECT_TRUE(has(kNemo, "strategy.tensor_model_parallel_size"));
  EXPECT_FALSE(has(kNemo, "rng.seed"));
  EXPECT_EQ(field_of(kMegatronBridge, "seq_length")->key, "dataset.seq_length");
  EXPECT_EQ(field_of(kMegatronBridge, "num_moe_experts")->means, "num-experts");
}

}  // namespace
}  // namespace sim
