#include "executor/model/gradient_place.h"

#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include "executor/model/norm.h"
#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

at::Tensor begun_place(at::IntArrayRef shape, at::ScalarType type) {
  const at::Tensor place = at::full(shape, 1e6, type);  // of the step before
  begin_gradient(place);
  return place;
}

TEST(GradientPlace, TheFirstIsWrittenTheNextIsAdded) {
  const at::Tensor place = begun_place({3}, at::kFloat), addend = random_tensor({3}, 1), alike = place;
  add_gradient(alike, addend);
  EXPECT_TRUE(at::equal(place, addend.to(at::kFloat)));
  add_gradient(place, addend, 0.5);
  EXPECT_TRUE(at::equal(place, addend.to(at::kFloat).add_(addend, 0.5)));
  begin_gradient(place);
  add_gradient(place, addend, 0.5);
  EXPECT_TRUE(at::equal(place, at::zeros({3}, at::kFloat).add_(addend, 0.5)));
}

TEST(GradientPlace, WhoAddsToAPartStartsAtZero) {
  const at::Tensor place = begun_place({4}, at::kDouble);
  started(place).narrow(0, 1, 2).add_(2.0);
  started(place).narrow(0, 1, 1).add_(1.0);
  EXPECT_EQ(place.sum().item<double>(), 5.0);
}

TEST(GradientPlace, WhatWasNeverBegunIsAddedTo) {
  const at::Tensor place = at::ones({2}, at::kDouble);
  add_gradient(place, place.clone());
  EXPECT_EQ(started(place).sum().item<double>(), 4.0);
  EXPECT_FALSE(takes_first({}));
}

// Beta 0 has the bits of a sum that began at zero.
TEST(GradientPlace, AProductHasTheBitsOfOneAddedToZero) {
  const std::pair<at::ScalarType, at::ScalarType> kinds[] = {
      {at::kDouble, at::kDouble}, {at::kFloat, at::kFloat}, {at::kBFloat16, at::kBFloat16}, {at::kFloat, at::kBFloat16}};
  for (const auto& [sum, factor] : kinds) {
    const at::Tensor a = random_tensor({96, 640}, 1).to(factor), b = random_tensor({640, 72}, 2).to(factor);
    const at::Tensor written = begun_place({96, 72}, sum), added = at::zeros({96, 72}, sum);
    for (int microbatch = 0; microbatch < 2; ++microbatch) {
      add_product(written, a, b);
      add_product(added, a, b);
      EXPECT_TRUE(at::equal(written, added)) << sum << " of " << factor << ", microbatch " << microbatch;
    }
  }
}

TEST(GradientPlace, NormsWriteTheirs) {
  for (const sim::Norm kind : {sim::Norm::LayerNorm, sim::Norm::RmsNorm}) {
    const auto layer_on = [&](bool is_begun) {
      const auto leaf = [&](std::uint64_t seed) {
        return Leaf{.value = random_tensor({5}, seed), .gradient = is_begun ? begun_place({5}, at::kDouble) : at::zeros({5}, at::kDouble)};
      };
      return NormLayer{.kind = kind, .scale = leaf(1), .shift = kind == sim::Norm::LayerNorm ? leaf(2) : Leaf{}};
    };
    const NormLayer written = layer_on(true), added = layer_on(false);
    for (const NormLayer* layer : {&written, &added}) {
      ResidualStream stream{.value = random_tensor({7, 5}, 3), .addend = {}};
      const NormResult result = norm_forward(stream, *layer);
      norm_backward(result.kept, {.output = random_tensor({7, 5}, 4), .stream = {}}, *layer);
    }
    EXPECT_TRUE(at::equal(written.scale.gradient, added.scale.gradient));
    EXPECT_TRUE(kind == sim::Norm::RmsNorm || at::equal(written.shift.gradient, added.shift.gradient));
  }
}

}  // namespace
}  // namespace executor
