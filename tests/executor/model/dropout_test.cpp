#include "executor/model/dropout.h"

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

Dropout dropout_at(std::uint64_t first_element) { return {.probability = 0.25, .key = random_key({5}), .first_element = first_element}; }

TEST(Dropout, DropsItsShareAndKeepsTheMean) {
  at::Tensor ones = at::ones({20000}, at::kDouble);
  apply_dropout(ones, dropout_at(0));
  EXPECT_NEAR(ones.mean().item<double>(), 1.0, 0.03);
  EXPECT_NEAR(ones.eq(0).to(at::kDouble).mean().item<double>(), 0.25, 0.02);
  EXPECT_EQ(ones.max().item<double>(), 1.0 / 0.75);
}

TEST(Dropout, MaskDependsOnTheGlobalElementAlone) {
  at::Tensor whole = at::ones({101}, at::kFloat), part = at::ones({60}, at::kFloat);
  apply_dropout(whole, dropout_at(1000));
  apply_dropout(part, dropout_at(1041));  // an odd start: elements share random bits in pairs
  EXPECT_TRUE(at::equal(whole.narrow(0, 41, 60), part));
}

TEST(Dropout, RowsThatDoNotFollowEachOtherKeepTheirMasks) {
  at::Tensor whole = at::ones({6, 5}, at::kFloat), parts = at::ones({3, 5}, at::kFloat);
  apply_dropout(whole, dropout_at(1000));
  const TokenStretches stretches{{.begin = 0, .first = 1, .count = 1}, {.begin = 1, .first = 4, .count = 2}};
  Dropout dropout = dropout_at(1000);
  dropout.stretches = stretches;
  apply_dropout(parts, dropout);
  EXPECT_TRUE(at::equal(parts[0], whole[1]));
  EXPECT_TRUE(at::equal(parts.narrow(0, 1, 2), whole.narrow(0, 4, 2)));
}

TEST(Dropout, OtherKeysOtherMasks) {
  at::Tensor one = at::ones({256}, at::kDouble), other = at::ones({256}, at::kDouble);
  apply_dropout(one, dropout_at(0));
  apply_dropout(other, {.probability = 0.25, .key = random_key({6}), .first_element = 0});
  EXPECT_FALSE(at::equal(one, other));
}

TEST(Dropout, ZeroDoesNothing) {
  at::Tensor ones = at::ones({4}, at::kDouble);
  apply_dropout(ones, {});
  EXPECT_TRUE(at::equal(ones, at::ones({4}, at::kDouble)));
}

}  // namespace
}  // namespace executor
