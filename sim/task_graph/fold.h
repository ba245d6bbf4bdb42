// Which ranks are simulated as one device. Ranks of a stage that differ in their data or tensor index alone do the same at the same time:
// they are folded. Indices that something sets apart (a slow rank, a slow link) stand alone, so that only they are unfolded.
//
//   D = 4, T = 2        stage 0:  0 1 | 2 3 | 4 5 | 6 7        Symmetric   [0 ... 7]
//                                                              data 1      [0 1 4 5 6 7]  [2 3]
//                                                              None        [0] [1] [2] [3] [4] [5] [6] [7]
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/device_mesh.h"

namespace sim {

struct IndexClass {  // indices of an axis that stay together, named by the lowest
  std::int32_t first = 0;
  std::int32_t size = 1;
};

struct AxisFold {
  bool all_apart = false;
  std::vector<std::int32_t> apart;  // ascending; the others stay together

  std::vector<IndexClass> classes(std::int32_t degree) const;  // ascending by `first`
  std::int32_t num_classes(std::int32_t degree) const;
  std::int32_t class_of(std::int32_t index) const;  // its position there
  bool operator==(const AxisFold&) const = default;
};

struct Fold {
  AxisFold data, tensor;
  bool operator==(const Fold&) const = default;
  static const Fold Symmetric;  // a device a pipeline stage
  static const Fold None;       // a device a rank
};

// The device of the graph that stands for the rank: stage by stage, data classes, then tensor classes.
DeviceId device_of(const Fold& fold, const DeviceMesh& mesh, Rank rank);

inline const Fold Fold::Symmetric{};
inline const Fold Fold::None{{.all_apart = true, .apart = {}}, {.all_apart = true, .apart = {}}};

}  // namespace sim
