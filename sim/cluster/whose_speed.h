// Whose speed a prediction is: the same plan takes another time under another program and on another part. Stands in every result.
#pragma once

#include <string>

#include "sim/cluster/cluster.h"

namespace sim {

struct WhoseSpeed {
  std::string program;  // name of the software profile; without one: our own worker
  std::string part;     // name of the hardware profile
};
WhoseSpeed whose_speed(const Cluster& cluster);
std::string to_text(const WhoseSpeed& speed);  // "megatron-core on h100-80gb-sxm"

}  // namespace sim
