#include "planner/unsearched.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "planner/plan_candidate.h"
#include "sim/plan/plan_fields.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

// Of each axis: what small problems, which between them meet every axis, have of it where nothing is fixed.
std::map<std::string_view, std::set<double>> values_of_axes() {
  std::map<std::string_view, std::set<double>> values;
  for (const SearchRequest& request : small_requests())
    for (const PlanCandidate& candidate : enumerate(request).candidates.all())
      for (const Axis& axis : all_axes()) values[axis.field->name].insert(axis.number(candidate));
  return values;
}

// A word that is added to the plan is searched, or says here why not: an axis of one value is not searched.
TEST(Unsearched, EveryWordOfTheLayoutHasValuesOrSaysWhyNot) {
  const std::map<std::string_view, std::set<double>> values = values_of_axes();
  for (const sim::PlanField& field : sim::plan_fields()) {
    if (field.role != sim::FieldRole::Layout || field.access.set == nullptr) continue;
    const auto found = values.find(field.name);
    const bool is_searched = found != values.end() && found->second.size() > 1;
    const bool is_told = std::ranges::any_of(unsearched(), [&](const Unsearched& word) { return word.field == field.name; });
    EXPECT_NE(is_searched, is_told) << field.name;
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
