// What the tests of measuring share. They run under mpirun, every rank every test, in the same order; figures are not judged.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "executor/launch/measure_timer.h"

namespace executor {

// Few repeats of small shapes: some milliseconds for all of them.
inline const MeasureOptions kHasty{.each = sim::Seconds(0), .largest = sim::Flops(4e6)};

inline MeshCommunicators all_ranks() {
  const Transport transport(start_mpi());
  return {measuring_mesh(transport.place().size), transport};
}

inline std::int64_t count(const std::vector<Sample>& samples, sim::Kernel kernel) {
  return std::count_if(samples.begin(), samples.end(), [&](const Sample& sample) { return sample.kernel == kernel; });
}

// Shapes as the profile wants them, and times that are times.
inline void expect_sound(const std::vector<Sample>& samples) {
  EXPECT_FALSE(samples.empty());
  for (const Sample& sample : samples) {
    const auto name = sim::kKernelNames[static_cast<std::size_t>(sample.kernel)];
    EXPECT_EQ(sample.shape.size(), sim::shape_size(sample.kernel)) << name;
    EXPECT_GT(sample.time.count(), 0) << name;
    EXPECT_LT(sample.time.count(), 10) << name;
  }
}

}  // namespace executor
