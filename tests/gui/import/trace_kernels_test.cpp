#include "gui/import/trace_kernels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

// Steps on the host, which runs ahead, and on the device; a kernel in each.
SharedTrace threeSteps(bool on_device) {
  std::string text = R"({"distributedInfo": {"rank": 3}, "traceEvents": [)";
  for (int step = 0; step < 4; ++step) {
    const int length = 10 + step;
    text +=
        fmt::format(R"({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{0}", "pid": 1, "tid": 1, "ts": {1}, "dur": {2}}},)",
                    step, 100 * step, length);
    if (on_device)
      text += fmt::format(
          R"({{"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#{0}", "pid": 0, "tid": 8, "ts": {1}, "dur": {2}}},)", step,
          100 * step + 50, length);
    text += fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "gemm{0}", "pid": 0, "tid": 7, "ts": {1}, "dur": 4}},)", step,
                        100 * step + (on_device ? 52 : 2));
  }
  text.back() = ']';
  const sim::testing::TemporaryFolder folder;
  sim::testing::put(folder.file("a.json"), text + "}");
  LoadProgress progress;
  return importTrace({folder.file("a.json")}, progress);
}

TEST(TraceKernels, AreThoseOfTheMedianStepAfterTheFirst) {
  for (const bool on_device : {true, false}) {
    const std::vector<TracedRank> ranks = kernelsOfStep(*threeSteps(on_device));
    ASSERT_EQ(ranks.size(), 1u);
    EXPECT_EQ(ranks[0].rank, sim::Rank(3));
    ASSERT_EQ(ranks[0].kernels.size(), 1u) << on_device;
    EXPECT_EQ(ranks[0].kernels[0].name, "gemm2");
    EXPECT_EQ(ranks[0].kernels[0].kind, WorkKind::Product);
    EXPECT_EQ(ranks[0].kernels[0].start, sim::SimTime(2'000'000));
    EXPECT_EQ(ranks[0].length, sim::SimTime(12'000'000));
  }
}

}  // namespace
}  // namespace gui
