#include "sim/validation/known_networks.h"

#include <gmock/gmock.h>

#include "sim/model/model_graph.h"

namespace sim {
namespace {

TEST(KnownNetworks, AreTheirConfigurations) {
  EXPECT_EQ(known_network("resnet50", {}), load_model_config("profiles/models/resnet-50.json"));
}

TEST(KnownNetworks, SizesAreInTheName) {
  EXPECT_EQ(known_network("amoebanet-d:18,256", {}).layers, 22);
  EXPECT_EQ(known_network("unet:5,64", {3, 192}).layers, 239);
  EXPECT_EQ(known_network("resnet101", {}).layers, 368);
}

// Xie et al. 2017, Hu et al. 2018: 44.2 and 49.0 million.
TEST(KnownNetworks, PublishedParameters) {
  const auto million = [](const char* name) {
    return static_cast<double>(num_parameters(make_model_graph(known_network(name, {}), {1}))) / 1e6;
  };
  EXPECT_NEAR(million("resnext101-32x4d"), 44.2, 0.1);
  EXPECT_NEAR(million("se-resnext101-32x4d"), 49.0, 0.1);
}

TEST(KnownNetworks, OthersAreNone) { EXPECT_TRUE(known_network("alexnet", {}).model_type.empty()); }

}  // namespace
}  // namespace sim
