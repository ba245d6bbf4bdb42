#include <gmock/gmock.h>

#include "sim/estimate/convolution_writer.h"

namespace sim {
namespace {

TEST(ConvolutionWriter, ShapesFlow) {
  ConvolutionWriter writer({3, 32}, Pointwise::Separate);
  writer.convolve(16, {3, 3, 2});
  EXPECT_EQ(writer.map().channels, 16);
  EXPECT_EQ(writer.map().size, 16);
  writer.norm();
  writer.activate();
  writer.cut();
  writer.pool(2);
  const ConvolutionalNetwork net = writer.take();
  ASSERT_EQ(net.size(), 2u);
  EXPECT_EQ(net[0].weights(), 3 * 16 * 9);
  EXPECT_EQ(net[0].forward, 5 * 16 * 256);
  EXPECT_EQ(net[0].kept, 2 * 16 * 256);
  EXPECT_EQ(net[1].passed, 16 * 64);
}

TEST(ConvolutionWriter, FusedActivationsCostNothing) {
  ConvolutionWriter writer({8, 8}, Pointwise::Fused);
  writer.activate();
  writer.convolve(8);
  const ConvolutionalNetwork net = writer.take();
  EXPECT_EQ(net[0].forward, 0);
  EXPECT_GT(net[0].kept, 0);
}

}  // namespace
}  // namespace sim
