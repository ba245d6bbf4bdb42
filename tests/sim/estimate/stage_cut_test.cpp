#include <gmock/gmock.h>

#include "sim/estimate/stage_cut.h"
#include "tests/sim/estimate/runs.h"

namespace sim {
namespace {

std::vector<std::int64_t> counts(const RunDescription& run) {
  std::vector<std::int64_t> found;
  for (const StageBlocks& stage : cut_stages(run.network, run.layout)) found.push_back(stage.count);
  return found;
}

TEST(StageCut, EvenAsFarAsItGoes) {
  RunDescription run = gpt_run();
  run.network.layers = 10;
  run.layout.pipeline = 4;
  EXPECT_THAT(counts(run), testing::ElementsAre(2, 3, 3, 2));
}

TEST(StageCut, EndsMayBeLighter) {
  RunDescription run = gpt_run();
  run.network.layers = 30;
  run.layout.pipeline = 8;
  run.layout.cut = CutKind::FirstLastMinusOne;
  EXPECT_THAT(counts(run), testing::ElementsAre(3, 4, 4, 4, 4, 4, 4, 3));
}

TEST(StageCut, StatedBalance) {
  RunDescription run = gpt_run();
  run.layout.pipeline = 2;
  run.layout.cut = CutKind::Balance;
  run.layout.balance = {3, 5};
  EXPECT_THAT(counts(run), testing::ElementsAre(3, 5));
  EXPECT_TRUE(cut_stages(run.network, run.layout).front().embedding);
  EXPECT_TRUE(cut_stages(run.network, run.layout).back().head);
}

}  // namespace
}  // namespace sim
