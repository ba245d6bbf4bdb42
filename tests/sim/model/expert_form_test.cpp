#include "sim/model/expert_form.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(ExpertForm, WithoutALimitEveryChoiceIsARow) {
  EXPECT_EQ(rows_to_experts({.experts = 4, .topk = 2}, {10}), 20);
  EXPECT_EQ(rows_to_experts({.experts = 4, .topk = 2, .capacity_factor = 2}, {10}), 20);  // dropless has none
}

TEST(ExpertForm, CapacityIsAnEvenShareTimesItsFactorRoundedUp) {
  ExpertForm form{.experts = 4, .topk = 2, .capacity_factor = 1.25, .dispatch = ExpertDispatch::Padded};
  EXPECT_EQ(expert_capacity(form, {10}), 7);
  EXPECT_EQ(rows_to_experts(form, {10}), 28);
  form.dispatch = ExpertDispatch::Drop;
  EXPECT_EQ(rows_to_experts(form, {10}), 20);
  form.capacity_factor = 0.5;
  EXPECT_EQ(rows_to_experts(form, {10}), 12);
  EXPECT_EQ(expert_capacity(form, {1}), 1);
}

}  // namespace
}  // namespace sim
