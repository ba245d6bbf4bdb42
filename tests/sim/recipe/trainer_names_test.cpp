#include "sim/recipe/trainer.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

TEST(TrainerNames, WhatIsLostIsNotWithoutEffectAndNotRead) {
  for (const LostSetting& lost : trainer_lost())
    for (const std::string_view key : {lost.keys}) {
      const std::string first(key.substr(0, key.find(' ')));
      if (first.ends_with("*")) continue;
      EXPECT_NE(lost_of(kTrainer, first), nullptr) << first;
      EXPECT_EQ(field_of(kTrainer, first), nullptr) << first;
    }
}

// A kind that decides is asked by names of the table, else nothing on a line could ever say it.
TEST(TrainerNames, WhatDecidesIsRead) {
  for (const Decided& one : decided_of_trainer()) {
    const std::string first(one.keys.substr(0, one.keys.find(' ')));
    ASSERT_NE(field_of(kTrainer, first), nullptr) << first;
    EXPECT_EQ(field_of(kTrainer, first)->key, first);
  }
}

}  // namespace
}  // namespace sim
