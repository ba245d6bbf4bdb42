#include "sim/cluster/whose_speed.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(WhoseSpeed, NamesProgramAndPart) {
  Cluster cluster = load_cluster("h100-80gb-sxm", DeviceCount{8});
  EXPECT_EQ(to_text(whose_speed(cluster)), "meshwright on h100-80gb-sxm");
  cluster.software = load_software("torchtitan");
  EXPECT_EQ(to_text(whose_speed(cluster)), "torchtitan on h100-80gb-sxm");
  cluster.software = {};
  EXPECT_EQ(whose_speed(cluster).program, "meshwright");
}

}  // namespace
}  // namespace sim
