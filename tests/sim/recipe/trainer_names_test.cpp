#include "sim/recipe/trainer.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

// A row that another one hides would never be told.
TEST(TrainerNames, WhatIsLostIsFound) {
  for (const LostSetting& lost : trainer_lost()) {
    const std::string first(lost.keys.substr(0, lost.keys.find_first_of(" *")));
    EXPECT_NE(lost_of(kTrainer, first), nullptr) << first;
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
