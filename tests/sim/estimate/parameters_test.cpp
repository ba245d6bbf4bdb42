#include <gmock/gmock.h>

#include "sim/estimate/layer_work.h"
#include "tests/sim/estimate/runs.h"

namespace sim {
namespace {

TEST(Parameters, DenseBlock) {
  EXPECT_NEAR(block_parameters(gpt_run(), BlockKind::Dense).total(), 12 * 2048.0 * 2048, 2e5);
  EXPECT_DOUBLE_EQ(embedding_parameters(gpt_run()).total(), 51200 * 2048.0);
}

TEST(Parameters, ExpertsAreDividedByExpertParallelism) {
  RunDescription run = gpt_run();
  run.network.experts = ExpertForm{.experts = 8, .expert_ffn = 8192};
  const double whole = block_parameters(run, BlockKind::Experts).experts;
  run.layout.expert = 4;
  EXPECT_DOUBLE_EQ(block_parameters(run, BlockKind::Experts).experts, whole / 4);
}

TEST(Parameters, AdaptersAloneAreTrained) {
  RunDescription run = gpt_run();
  run.network.low_rank = LowRankForm{};
  const ParameterCount count = block_parameters(run, BlockKind::Dense);
  EXPECT_LT(count.trained, 0.02 * count.total());
  EXPECT_EQ(embedding_parameters(run).trained, 0);
}

}  // namespace
}  // namespace sim
