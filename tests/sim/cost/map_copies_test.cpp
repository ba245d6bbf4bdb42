// Sums of what torch 2.11 was seen to ask its allocator for, by one thread on a machine with AVX-512.
#include "sim/cost/map_copies.h"

#include <gmock/gmock.h>

#include "sim/model/map_writer.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

struct Convolved {
  std::int64_t samples = 8, inputs = 0, size = 0, outputs = 0;
  FilterShape filter{};
};

Layer layer_of(const Convolved& one, bool of_images) {
  MapWriter net({one.inputs, one.size});
  if (!of_images) net.cut();
  net.convolve(one.outputs, one.filter);
  net.cut();
  return std::move(net).finish_with_loss(1)[of_images ? 0 : 1];
}

ParallelPlan plan_of(const Convolved& one) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.sequence = 1;
  plan.workload.global_batch = plan.microbatch_size = one.samples;
  return plan;
}

Bytes map_of(std::int64_t samples, std::int64_t channels, std::int64_t size) { return Bytes(4) * (samples * channels * size * size); }

Bytes forward_peak(const Convolved& one, bool of_images = false) {
  const std::int64_t size = (one.size + one.filter.stride - 1) / one.filter.stride;
  return map_of(one.samples, one.outputs, size) + copies_forward(layer_of(one, of_images), plan_of(one));
}

Bytes backward_peak(const Convolved& one) {
  return map_of(one.samples, one.inputs, one.size) + copies_backward(layer_of(one, false), plan_of(one));
}

constexpr Convolved kPlain{.inputs = 64, .size = 8, .outputs = 64, .filter = {3, 3}},
    kWide{.inputs = 16, .size = 16, .outputs = 16, .filter = {3, 3}},
    kStrided{.inputs = 64, .size = 8, .outputs = 128, .filter = {3, 3, 2}},
    kNarrow{.inputs = 12, .size = 2, .outputs = 12, .filter = {3, 3}};

TEST(MapCopies, OfAForward) {
  EXPECT_EQ(forward_peak(kPlain), Bytes(409'600));
  EXPECT_EQ(forward_peak(kWide), Bytes(271'360));
  EXPECT_EQ(forward_peak(kStrided), Bytes(491'520));
  EXPECT_EQ(forward_peak(kNarrow), Bytes(8'960));
  EXPECT_EQ(forward_peak({.inputs = 3, .size = 64, .outputs = 64, .filter = {7, 7, 2}}, true), Bytes(4'194'304));
  EXPECT_EQ(forward_peak({.inputs = 3, .size = 16, .outputs = 8, .filter = {7, 7, 2}}, true), Bytes(49'152));
}

TEST(MapCopies, OfABackward) {
  EXPECT_EQ(backward_peak(kPlain), Bytes(540'672));
  EXPECT_EQ(backward_peak(kWide), Bytes(402'432));
  EXPECT_EQ(backward_peak(kStrided), Bytes(720'896));
  EXPECT_EQ(backward_peak({.inputs = 16, .size = 16, .outputs = 32, .filter = {3, 3, 2}}), Bytes(393'216));
}

// Single places are a product as they lie, until samples are many.
TEST(MapCopies, OfSinglePlaces) {
  EXPECT_EQ(forward_peak({.inputs = 64, .size = 8, .outputs = 64}), Bytes(131'072));
  EXPECT_EQ(backward_peak({.inputs = 64, .size = 8, .outputs = 64}), Bytes(147'456));
  EXPECT_EQ(forward_peak({.samples = 16, .inputs = 64, .size = 8, .outputs = 64}), Bytes(540'672));
  EXPECT_EQ(backward_peak({.samples = 16, .inputs = 64, .size = 8, .outputs = 64}), Bytes(802'816));
}

TEST(MapCopies, OfCpusAlone) {
  ParallelPlan plan = plan_of(kPlain);
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_EQ(copies_backward(layer_of(kPlain, false), plan), Bytes(0));
}

}  // namespace
}  // namespace sim
