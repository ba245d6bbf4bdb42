#include "executor/training/made_up_images.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

at::Tensor image_of(const ImageOf& what) {
  const at::Tensor image = at::empty({3, 8, 8}, at::kDouble);
  make_up_image(image, what);
  return image;
}

TEST(MadeUpImages, AreOfTheirSampleAndLabelAlone) {
  const ImageOf one{.seed = 1, .sample = 5, .label = 2};
  EXPECT_TRUE(image_of(one).equal(image_of(one)));
  EXPECT_FALSE(image_of(one).equal(image_of({.seed = 1, .sample = 6, .label = 2})));
  EXPECT_FALSE(image_of(one).equal(image_of({.seed = 1, .sample = 5, .label = 3})));
  EXPECT_FALSE(image_of(one).equal(image_of({.seed = 2, .sample = 5, .label = 2})));
}

// Noise of two samples is apart; what a label adds to both is not.
TEST(MadeUpImages, ALabelHasAPattern) {
  const auto difference = [](std::int64_t label) {
    return image_of({.seed = 1, .sample = 5, .label = label}) - image_of({.seed = 1, .sample = 6, .label = label});
  };
  EXPECT_LT((difference(2) - difference(3)).abs().max().item<double>(), 1e-12);
}

}  // namespace
}  // namespace executor
