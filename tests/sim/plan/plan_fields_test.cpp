#include "sim/plan/plan_fields.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

// Another value than the one at hand that the field accepts.
FieldValue another(const PlanField& field, const FieldValue& value) {
  switch (field.access.kind) {
    case FieldKind::Integer: return std::get<std::int64_t>(value) + (std::get<std::int64_t>(value) < field.range.high ? 1 : -1);
    case FieldKind::Number: return field.range.low + 0.125;
    case FieldKind::Switch: return !std::get<bool>(value);
    case FieldKind::Amount: return std::get<Bytes>(value) + Bytes(7);
    case FieldKind::Integers: return std::vector<std::int64_t>{0, 2};
    case FieldKind::Lines: return order_rows(testing::tiny_plan().order_table());
    case FieldKind::Text: break;
  }
  if (field.access.names == nullptr)
    return std::string(field.name == "recompute_scope"   ? "every 2"
                       : field.name == "adapters"        ? "rank 4 on q,o"
                       : field.name == "frozen"          ? "norms first 2"
                       : field.name == "samples"         ? "packed fixed 4"
                       : field.name == "expert_loads"    ? "spread 0.6"
                       : field.name == "offload_modules" ? "core_attn,attn_proj"
                       : field.name == "graph_scope"     ? "attn,mlp"
                                                         : "bf16 gradients=fp32");
  for (const std::string_view name : field.access.names())
    if (name != std::get<std::string>(value)) return std::string(name);
  return value;
}

TEST(PlanFields, NamesAndPathsAreUnique) {
  std::set<std::string_view> names, paths;
  for (const PlanField& field : plan_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(paths.insert(field.path).second) << field.path;
    EXPECT_FALSE(field.words.empty() || field.meaning.empty()) << field.name;
  }
}

TEST(PlanFields, WhatIsSetIsWhatTheyHoldThen) {
  for (const PlanField& field : plan_fields()) {
    if (field.access.set == nullptr) continue;
    ParallelPlan plan = testing::tiny_plan();
    plan.workload.precision = Precision::Fp16;  // whose gradients can be wider
    const FieldValue value = another(field, field.access.get(plan));
    ASSERT_NE(to_text(value), text_of(field, plan)) << field.name;
    EXPECT_TRUE(field.access.set(plan, value).empty()) << field.name;
    EXPECT_EQ(to_text(field.access.get(plan)), to_text(value)) << field.name;
  }
}

TEST(PlanFields, TheirTextReadsBack) {
  for (const PlanField& field : plan_fields()) {
    if (field.access.kind == FieldKind::Integers || field.access.kind == FieldKind::Lines) continue;
    const FieldValue value = another(field, field.access.get(testing::tiny_plan()));
    EXPECT_EQ(parse_value(field, to_text(value)), value) << field.name;
    EXPECT_FALSE(parse_value(field, "no such value") && field.access.names != nullptr) << field.name;
  }
}

TEST(PlanFields, OnlyWhatPredictionsDependOnIsInTheHash) {
  for (const PlanField& field : plan_fields()) {
    ParallelPlan plan = testing::tiny_plan({.data = 1, .context = 2});
    plan.workload.precision = Precision::Fp16;
    const std::string before = plan_hash(plan);
    if (field.access.set == nullptr) continue;
    field.access.set(plan, another(field, field.access.get(plan)));
    EXPECT_EQ(plan_hash(plan) != before, field.role == FieldRole::Workload || field.role == FieldRole::Layout) << field.name;
  }
}

TEST(PlanFields, SayWhatTheyAccept) {
  EXPECT_EQ(accepted(plan_field("zero")), "0, 1, 2, 3");
  EXPECT_EQ(accepted(plan_field("tensor")), "a whole number of at least 1");
  EXPECT_EQ(accepted(plan_field("recompute")), "none, selective, full");
  EXPECT_EQ(accepted(plan_field("prefetch")), "0, 1, 2, 3");
  EXPECT_EQ(parse_value(plan_field("prefetch"), "true"), FieldValue(std::int64_t{1}));
  EXPECT_FALSE(parse_value(plan_field("prefetch"), "4"));
  EXPECT_FALSE(parse_value(plan_field("zero"), "4"));
  EXPECT_FALSE(parse_value(plan_field("tensor"), "2x"));
  EXPECT_FALSE(parse_value(plan_field("bucket_size"), "25"));
  EXPECT_EQ(parse_value(plan_field("bucket_size"), "25 MiB"), FieldValue(Bytes(25 << 20)));
}

TEST(PlanFields, AtTheirDefaultTheyDoNotStandInTheFile) {
  ParallelPlan plan = testing::tiny_plan();
  EXPECT_FALSE(stands_in_file(plan_field("layers_per_unit"), plan));
  plan.layers_per_unit = 2;
  EXPECT_TRUE(stands_in_file(plan_field("layers_per_unit"), plan));
}

}  // namespace
}  // namespace sim
