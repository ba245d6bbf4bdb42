#include "planner/unsearched.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/plan_candidate.h"
#include "sim/plan/plan_fields.h"

namespace planner {
namespace {

// A word that is added to the plan is searched, or says here why not. An axis stands here if it is asked for.
TEST(Unsearched, EveryWordOfTheLayoutIsAnAxisOrSaysWhyNot) {
  for (const sim::PlanField& field : sim::plan_fields()) {
    if (field.role != sim::FieldRole::Layout || field.access.set == nullptr) continue;
    const auto axis = std::ranges::find(all_axes(), &field, &Axis::field);
    const bool is_axis = axis != all_axes().end(), is_asked_for = is_axis && axis->is_told_where_asked;
    const bool is_told = std::ranges::any_of(unsearched(), [&](const Unsearched& word) { return word.field == field.name; });
    EXPECT_TRUE(is_axis ? !is_told || is_asked_for : is_told) << field.name;
  }
}

TEST(Unsearched, EveryLineIsOfAWordOfThePlan) {
  for (const Unsearched& word : unsearched()) {
    EXPECT_EQ(sim::plan_field(word.field).role, sim::FieldRole::Layout) << word.field;
    EXPECT_FALSE(word.because.empty()) << word.field;
  }
}

}  // namespace
}  // namespace planner
