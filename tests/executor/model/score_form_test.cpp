#include "executor/model/score_form.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

TEST(ScoreForm, AWindowOfAnEncoderReachesBothWays) {
  ScoreForm form;
  form.window = 3;
  EXPECT_EQ(form.reach(), 3);
  EXPECT_FALSE(form.sees_all_behind(4));
  EXPECT_TRUE(form.sees_all_behind(3));
  form.is_causal = false;
  EXPECT_EQ(form.reach(), 2);
}

TEST(ScoreForm, TheFusedKernelKnowsPlainScoresAlone) {
  EXPECT_TRUE(ScoreForm().knows_kernel(8));
  ScoreForm capped, near;
  capped.cap = 30;
  near.window = 4;
  EXPECT_FALSE(capped.knows_kernel(8));
  EXPECT_FALSE(near.knows_kernel(8));
  EXPECT_TRUE(near.knows_kernel(4));
}

// (cap tanh(s / cap))' = 1 - tanh(s / cap)^2, of s = 1 and a cap of 2.
TEST(ScoreForm, ACapBendsScoresAndTheirSlopes) {
  ScoreForm form;
  form.cap = 2;
  const at::Tensor capped = form.capped(at::full({1}, 1.0, at::kDouble));
  EXPECT_TRUE(at::allclose(capped, at::full({1}, 0.9242343145200195, at::kDouble)));
  const at::Tensor slope = at::full({1}, 3.0, at::kDouble);
  form.through_cap(slope, capped);
  EXPECT_TRUE(at::allclose(slope, at::full({1}, 3 * 0.7864477329659274, at::kDouble)));
}

}  // namespace
}  // namespace executor
