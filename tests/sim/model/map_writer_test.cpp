#include "sim/model/map_writer.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(MapWriter, FollowsTheShape) {
  MapWriter net({3, 225});
  net.convolve(64, {7, 7, 2});
  EXPECT_EQ(net.map().size, 113);
  net.pool(2);
  EXPECT_EQ(net.map().elements(), 64 * 57 * 57);
  net.squeeze(4);
  EXPECT_EQ(net.map().elements(), 64 * 57 * 57);
  net.average();
  EXPECT_EQ(net.map().elements(), 64);
}

TEST(MapWriter, ALayerHasTheParametersOfItsOperators) {
  MapWriter net({8, 14});
  net.convolve(16, {3, 3, 1, 4}, true);
  net.norm();
  net.cut();
  net.cut();
  net.average();
  const std::vector<Layer> layers = std::move(net).finish_with_loss(16);
  ASSERT_EQ(layers.size(), 3u);
  ASSERT_EQ(layers[0].parameters.size(), 4u);
  EXPECT_EQ(layers[0].parameters[0].elements(), 16 * 2 * 9);
  EXPECT_EQ(layers[0].segments[0].name, Operation::Convolution);
  EXPECT_TRUE(layers[1].segments[0].operators.empty());
  EXPECT_EQ(layers[1].handed_on, 16 * 14 * 14);
  EXPECT_TRUE(layers[2].segments[0].has(OperatorKind::CrossEntropy));
}

}  // namespace
}  // namespace sim
