#include <gmock/gmock.h>

#include "sim/estimate/convolution_layers.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

ConvolutionalNetwork network(const std::string& architecture, std::int64_t image = 224) {
  return make_convolutional(architecture, {image}, Pointwise::Separate);
}

// Multiply-adds of one image, forward, in units of 10^9.
double giga(const std::string& architecture, std::int64_t image = 224) {
  double sum = 0;
  for (const ConvolutionalUnit& unit : network(architecture, image))
    for (const Convolution& layer : unit.convolutions) sum += layer.size * layer.size * layer.weights();
  return sum / 1e9;
}

double million_weights(const std::string& architecture) {
  double sum = 0;
  for (const ConvolutionalUnit& unit : network(architecture)) sum += unit.weights();
  return sum / 1e6;
}

TEST(ConvolutionLayers, PublishedWork) {
  EXPECT_NEAR(giga("resnet50"), 4.1, 0.15);
  EXPECT_NEAR(giga("resnet101"), 7.8, 0.3);
  EXPECT_NEAR(giga("resnext101-32x4d"), 8.0, 0.4);
  EXPECT_NEAR(giga("efficientnet-b0"), 0.39, 0.06);
  EXPECT_NEAR(giga("efficientnet-widese-b4", 380), 4.2, 0.5);
}

// He et al. 2016, Xie et al. 2017; tables of torchgpipe's documentation. Norms and biases are not counted here.
TEST(ConvolutionLayers, PublishedParameters) {
  EXPECT_NEAR(million_weights("resnet50"), 25.5, 0.3);
  EXPECT_NEAR(million_weights("resnet101"), 44.5, 0.5);
  EXPECT_NEAR(million_weights("resnext101-32x4d"), 44.2, 0.5);
  EXPECT_NEAR(million_weights("amoebanet-d:18,208"), 81.5, 0.8);
  EXPECT_NEAR(million_weights("amoebanet-d:18,416"), 319, 3);
  EXPECT_NEAR(million_weights("unet:6,72"), 362.2, 1);
}

TEST(ConvolutionLayers, UnitsOfTheFlattenedModel) {  // what the balances of torchgpipe's benchmarks sum up to
  EXPECT_EQ(network("resnet101").size(), 370u);
  EXPECT_EQ(network("unet:5,64", 192).size(), 241u);
  EXPECT_EQ(network("amoebanet-d:18,256").size(), 24u);
}

TEST(ConvolutionLayers, FusionMovesLess) {
  const auto moved = [](Pointwise pointwise) {
    double sum = 0;
    for (const ConvolutionalUnit& unit : make_convolutional("resnet50", {224}, pointwise)) sum += unit.forward + unit.backward;
    return sum;
  };
  EXPECT_LT(moved(Pointwise::Fused), 0.8 * moved(Pointwise::Separate));
}

TEST(ConvolutionLayers, UnknownNetworkIsNamed) { EXPECT_THROW(network("alexnet"), InputError); }

}  // namespace
}  // namespace sim
