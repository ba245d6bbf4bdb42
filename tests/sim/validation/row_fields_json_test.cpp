#include <gmock/gmock.h>

#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

Json with_fields(const Json& fields) {
  return patched(valid_row(),
                 {{"plan", {{"dp", 2}, {"pp", 4}, {"schedule", "1f1b"}, {"overlap", {{"param_gather", false}}}, {"fields", fields}}}});
}

std::string fault_of(const Json& fields) {
  try {
    describe(with_fields(fields));
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(RowFields, APlaceOfAPlanFileIsSet) {
  const ParallelPlan plan = describe(with_fields({{"/slices", 4}, {"/bucket_size", "50 MiB"}})).plan;
  EXPECT_EQ(plan.slices, 4);
  EXPECT_EQ(plan.bucket_size, Bytes(50 << 20));
  EXPECT_EQ(describe(with_fields(Json::object())).plan.slices, 1);
}

TEST(RowFields, WhatIsNoPlaceOrNoValueIsNamed) {
  EXPECT_THAT(fault_of({{"/slice", 4}}), testing::HasSubstr("/slice"));
  EXPECT_THAT(fault_of({{"/microbatches", 4}}), testing::HasSubstr("no place")) << "follows from the others";
  EXPECT_THAT(fault_of({{"/slices", "some"}}), testing::HasSubstr("a whole number of at least 1"));
}

TEST(RowFields, NothingIsSaidTwice) { EXPECT_THAT(fault_of({{"/zero_stage", 2}}), testing::HasSubstr("by other words of the row")); }

TEST(RowFields, RulesOfPlansHoldForThem) { EXPECT_THAT(fault_of({{"/slices", 3}}), testing::HasSubstr("not divisible into 3 slices")); }

}  // namespace
}  // namespace sim
