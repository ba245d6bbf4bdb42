// What the tests of measuring share. They run under mpirun, every rank every test, in the same order; figures are not judged.
#pragma once

#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>

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

// Operators that a part of measuring makes operands of one number with. Nothing is timed: what is made is what would be.
inline std::set<std::string> makers_of_constants(const std::function<void(KernelTimer&)>& part) {
  static const std::set<std::string> kFilling{"aten::zeros", "aten::ones", "aten::full", "aten::zero_", "aten::fill_"};
  static std::set<std::string> found;
  found.clear();
  const auto end = [](const at::RecordFunction& of, at::ObserverContext*) {
    const auto& made = of.outputs();
    const bool is_number = !made.empty() && made[0].isTensor() && made[0].toTensor().is_floating_point() && made[0].toTensor().numel() > 1;
    if (is_number && kFilling.contains(of.name())) found.insert(of.name());
  };
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction&) { return std::unique_ptr<at::ObserverContext>(); }, end).needsOutputs(true));
  auto mesh = all_ranks();
  KernelTimer timer(mesh, kHasty, KernelTimer::Pass::Counts);
  part(timer);
  at::removeCallback(handle);
  return found;
}

}  // namespace executor
