#include "executor/model/made_again.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

TEST(MadeAgain, TakesThePlaceThatOthersHold) {
  const at::Tensor from = at::randn({3, 4}), made = from.exp(), held = made.detach(), before = made.clone();
  MadeAgain again;
  again.add({made}, [from] { return std::vector<at::Tensor>{from.exp()}; });
  again.forget();
  EXPECT_EQ(held.storage().nbytes(), 0U);
  again.make();
  EXPECT_TRUE(at::equal(held, before));
  again.make();  // nothing is left of it
  EXPECT_TRUE(at::equal(held, before));
}

TEST(MadeAgain, WhatWasAddedLastIsMadeFirst) {
  const at::Tensor from = at::randn({5}), first = from.exp(), second = first.sin(), expected = second.clone();
  MadeAgain again;
  again.add({second}, [first] { return std::vector<at::Tensor>{first.sin()}; });
  again.add({first}, [from] { return std::vector<at::Tensor>{from.exp()}; });
  again.forget();
  again.make();
  EXPECT_TRUE(at::equal(second, expected));
}

TEST(MadeAgain, OnlyItsModulesAreOffered) {
  const at::Tensor kept = at::randn({2}), gone = at::randn({2});
  const auto nothing = [] { return std::vector<at::Tensor>(); };
  MadeAgain again;
  Recomputing::offer(sim::Module::MoeActivation, {kept}, nothing);
  {
    const Recomputing recomputing(sim::Module::MoeActivation, again);
    Recomputing::offer(sim::Module::MoeActivation, {gone}, nothing);
    Recomputing::offer(sim::Module::MlaUpProjection, {kept}, nothing);
  }
  EXPECT_FALSE(Recomputing::makes_again(sim::Module::MoeActivation));
  again.forget();
  EXPECT_EQ(gone.storage().nbytes(), 0U);
  EXPECT_GT(kept.storage().nbytes(), 0U);
}

}  // namespace
}  // namespace executor
