// Measured points of one kernel, interpolated. What is interpolated is the ratio of the measured time to a baseline (the roofline), in
// logarithms: it varies slowly, and far from every point the baseline's shape takes over.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sim/cluster/hardware_profile.h"

namespace sim {

// Of all points of `kernel` in `precision`: those taken with `busy` ranks of the node at work, else with the next more, else with the most.
struct BusyRanks {
  std::int32_t value = 1;
};
std::vector<const MeasuredKernel*> select_points(const HardwareProfile& profile, Kernel kernel, Precision precision, BusyRanks busy);

class RatioCurve {
 public:
  using Coordinates = std::array<double, 3>;  // logarithms of sizes; unused ones are 0
  struct Point {
    Coordinates at{};
    double log_ratio = 0;
  };

  void add(const Coordinates& at, Seconds measured, Seconds baseline);
  bool empty() const { return points_.empty(); }
  // At a point: its ratio. Between: weighted by distance^-4; along one axis: linear between its neighbours. 1 without points.
  double ratio(const Coordinates& at) const;

 private:
  bool is_line() const;
  double along_line(double at) const;
  double by_distance(const Coordinates& at) const;

  std::vector<Point> points_;  // ascending in the first coordinate
};

}  // namespace sim
