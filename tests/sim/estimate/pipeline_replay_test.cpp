#include <gmock/gmock.h>

#include "sim/estimate/pipeline_replay.h"

namespace sim {
namespace {

PipelineRun even(const std::string& schedule, PipelineShape shape) {
  PipelineRun run{.shape = shape, .schedule = schedule, .chunks = {}, .transfer = Seconds(0)};
  const double parts = shape.chunks;
  run.chunks.assign(static_cast<std::size_t>(shape.stages * shape.chunks), {Seconds(1 / parts), Seconds(1 / parts), Seconds(1 / parts)});
  return run;
}

TEST(PipelineReplay, OneForwardOneBackward) {  // (m + p - 1) x (F + B + W)
  EXPECT_NEAR(replay(even("1f1b", {4, 8, 1})).count(), 11 * 3, 1e-9);
  EXPECT_NEAR(replay(even("gpipe", {4, 8, 1})).count(), 11 * 3, 1e-9);
}

TEST(PipelineReplay, InterleavingDividesTheBubble) {  // (m + (p - 1) / v) x (F + B + W)
  EXPECT_NEAR(replay(even("interleaved", {4, 8, 2})).count(), (8 + 1.5) * 3, 1e-9);
  EXPECT_NEAR(replay(even("interleaved", {4, 6, 2})).count(), (6 + 1.5) * 3, 1e-6);  // rounds that do not come out even
}

TEST(PipelineReplay,
     ZeroBubbleSchedulesHaveSmallerBubbles) {  // zb-1p: (p - 1)(F + B - W), zb-2p: (p - 1)(F + B - 2 W), where nothing waits for all
  EXPECT_NEAR(replay(even("zb-1p", {4, 16, 1})).count(), 16 * 3 + 3, 1e-9);
  EXPECT_NEAR(replay(even("zb-2p", {4, 16, 1})).count(), 16 * 3, 1e-9);
  EXPECT_NEAR(replay(even("zb-2p-sync", {4, 16, 1})).count(), 16 * 3 + 3, 1e-9);
  EXPECT_LE(replay(even("zbv", {4, 16, 2})).count(), 16 * 3 + 3);
  EXPECT_LE(replay(even("v-min", {4, 16, 2})).count(), 16 * 3 + 6);
}

TEST(PipelineReplay, ASlowStageSetsThePace) {
  PipelineRun run = even("1f1b", {4, 32, 1});
  run.chunks[2] = {Seconds(2), Seconds(2), Seconds(2)};
  EXPECT_GT(replay(run).count(), 32 * 6);
}

TEST(PipelineReplay, TransfersDelayEveryStage) {
  PipelineRun run = even("1f1b", {4, 8, 1});
  run.transfer = Seconds(0.1);
  const double delayed = replay(run).count();
  EXPECT_GE(delayed, 33 + 0.6 - 1e-9);
  run.transfer_blocks = true;
  EXPECT_GT(replay(run).count(), delayed);
}

// Qi et al. 2024 (arXiv 2401.10241), tables 4 and 6: eight stages; times of a stage in ms, means over stages whose first and last has a layer fewer.
struct Profiled {
  const char* schedule;
  int layers, microbatches, chunks;
  double forward, backward, weight, transfer, measured;
};
constexpr Profiled kProfiled[] = {
    {"zb-2p", 22, 24, 1, 18.522, 18.086, 9.337, 0.601, 1.24138},
    {"zb-2p", 22, 32, 1, 18.513, 18.086, 9.331, 0.626, 1.62162},
    {"zb-2p", 22, 64, 1, 18.546, 18.097, 9.321, 0.762, 3.22148},
    {"zb-1p", 22, 24, 1, 18.522, 18.086, 9.337, 0.601, 1.39535},
    {"zb-1p", 22, 32, 1, 18.513, 18.086, 9.331, 0.626, 1.79104},
    {"zb-1p", 22, 64, 1, 18.546, 18.097, 9.321, 0.762, 3.38028},
    {"1f1b", 22, 24, 1, 18.522, 18.086, 9.337, 0.601, 1.52542},
    {"1f1b", 22, 32, 1, 18.513, 18.086, 9.331, 0.626, 1.92},
    {"1f1b", 22, 64, 1, 18.546, 18.097, 9.321, 0.762, 3.52941},
    {"interleaved", 22, 24, 3, 18.522, 18.086, 9.337, 0.601, 1.37405},
    {"interleaved", 22, 32, 3, 18.513, 18.086, 9.331, 0.626, 1.79104},
    {"interleaved", 22, 64, 3, 18.546, 18.097, 9.321, 0.762, 3.45324},
    {"zb-2p", 30, 24, 1, 29.718, 29.444, 19.927, 0.527, 2.08333},
    {"zb-2p", 30, 32, 1, 29.802, 29.428, 19.53, 0.577, 2.75862},
    {"zb-2p", 30, 64, 1, 29.935, 29.621, 19.388, 0.535, 5.46697},
    {"zb-1p", 30, 24, 1, 29.718, 29.444, 19.927, 0.527, 2.31959},
    {"zb-1p", 30, 32, 1, 29.802, 29.428, 19.53, 0.577, 3},
    {"zb-1p", 30, 64, 1, 29.935, 29.621, 19.388, 0.535, 5.71429},
    {"1f1b", 30, 24, 1, 29.718, 29.444, 19.927, 0.527, 2.57143},
    {"1f1b", 30, 32, 1, 29.802, 29.428, 19.53, 0.577, 3.24324},
    {"1f1b", 30, 64, 1, 29.935, 29.621, 19.388, 0.535, 5.95533},
    {"interleaved", 30, 24, 4, 29.718, 29.444, 19.927, 0.527, 2.24439},
    {"interleaved", 30, 32, 4, 29.802, 29.428, 19.53, 0.577, 2.94118},
    {"interleaved", 30, 64, 4, 29.935, 29.621, 19.388, 0.535, 5.72792},
    {"zb-2p-sync", 22, 24, 1, 18.522, 18.086, 9.337, 0.601, 1.373},
    {"zb-2p-sync", 30, 24, 1, 29.718, 29.444, 19.927, 0.527, 2.25},
};

PipelineRun run_of(const Profiled& row) {
  PipelineRun run{
      .shape = {8, row.microbatches, row.chunks}, .schedule = row.schedule, .chunks = {}, .transfer = Seconds(row.transfer * 1e-3)};
  run.transfer_blocks = row.chunks > 1;  // Megatron-LM's interleaved transfers are waited for
  const int pieces = 8 * row.chunks;
  for (int at = 0; at < pieces; ++at) {  // interleaved: a layer a chunk, the last has the rest
    const bool is_end = at == 0 || at == pieces - 1;
    const double blocks = row.chunks > 1 ? (is_end && row.layers + 2 == pieces ? 0 : 1) : (row.layers + 2) / 8 - (is_end ? 1 : 0);
    const double share = blocks * 8 / row.layers;
    run.chunks.push_back({Seconds(row.forward * share * 1e-3), Seconds(row.backward * share * 1e-3), Seconds(row.weight * share * 1e-3)});
  }
  return run;
}

TEST(PipelineReplay, ProfiledPassesGiveTheMeasuredStep) {
  double sum = 0;
  for (const Profiled& row : kProfiled) {
    const double error = replay(run_of(row)).count() / row.measured - 1;
    EXPECT_NEAR(error, 0, 0.06) << row.schedule << " " << row.layers << " " << row.microbatches;
    sum += std::abs(error) / std::size(kProfiled);
  }
  EXPECT_LE(sum, 0.02);
}

}  // namespace
}  // namespace sim
