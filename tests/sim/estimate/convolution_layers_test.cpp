#include <gmock/gmock.h>

#include "sim/estimate/convolution_layers.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

// Multiply-adds of one image, forward, in units of 10^9.
double giga(const std::string& architecture, std::int64_t image) {
  double sum = 0;
  for (const Convolution& layer : make_convolutional(architecture, image).layers)
    sum += layer.size * layer.size * layer.outputs * layer.inputs / layer.groups * layer.kernel_area();
  return sum / 1e9;
}

TEST(ConvolutionLayers, PublishedWork) {
  EXPECT_NEAR(giga("resnet50", 224), 4.1, 0.15);
  EXPECT_NEAR(giga("resnet101", 224), 7.8, 0.3);
  EXPECT_NEAR(giga("resnext101-32x4d", 224), 8.0, 0.4);
  EXPECT_NEAR(giga("efficientnet-b0", 224), 0.39, 0.06);
}

TEST(ConvolutionLayers, OthersHaveWorkToo) {
  EXPECT_GT(giga("amoebanet-d:18,256", 224), 1);
  EXPECT_GT(giga("unet:5,64", 192), 10);
  EXPECT_GT(giga("efficientnet-widese-b4", 380), 3);
  EXPECT_NEAR(giga("se-resnext101-32x4d", 224), giga("resnext101-32x4d", 224), 0.1);
}

TEST(ConvolutionLayers, UnknownNetworkIsNamed) { EXPECT_THROW(make_convolutional("alexnet", 224), InputError); }

}  // namespace
}  // namespace sim
