#include "sim/model/linear_form.h"

#include <gmock/gmock.h>

#include <numeric>

namespace sim {
namespace {

using ::testing::ElementsAre;

constexpr LinearForm kDelta{.rule = LinearRule::GatedDelta, .heads = 32, .groups = 16, .key = 128, .value = 64};
constexpr LinearForm kState{.rule = LinearRule::StateSpace, .heads = 128, .groups = 8, .key = 128, .value = 64, .chunk = 256};

TEST(LinearForm, TheFirstProductMakesAllThatAHeadReads) {
  EXPECT_THAT(kDelta.row_blocks(), ElementsAre(2048, 2048, 2048, 2048, 32, 32))
      << "queries, keys, values, gate, how much is written, decay";
  EXPECT_THAT(kState.row_blocks(), ElementsAre(8192, 8192, 1024, 1024, 128)) << "gate, values, B, C, step";
  EXPECT_EQ(kState.projected(), 18560) << "Nemotron-H-8B";
  EXPECT_EQ(kState.convolved(), 8192 + 2048);
}

// Mamba-2 (2024), section 6: with heads as wide as the state N and chunks as long, T N^2 numbers of work a head of N.
TEST(LinearForm, WorkGrowsWithTokensAloneAndWithTheStateOfAHead) {
  const auto flops = [](std::int64_t tokens, std::int64_t state) {
    return scan_flops({LinearRule::StateSpace, tokens, 8, 8, state, state, state}).value();
  };
  EXPECT_EQ(flops(2048, 64), 2 * flops(1024, 64));
  EXPECT_EQ(flops(1024, 128), 4 * flops(1024, 64));
  EXPECT_EQ(flops(1024, 64), 2.0 * 1024 * 8 * 3.5 * 64 * 64) << "keys with keys, half of the sums of values, states written and read";
}

// A head of 128 on chunks of 64: three products of keys and two of values within a chunk, three with the state.
TEST(LinearForm, TheDeltaRuleSolvesWithinChunks) {
  const Scan scan{LinearRule::GatedDelta, 4096, 1, 1, 128, 128, 64};
  EXPECT_EQ(scan_flops(scan).value(), 2.0 * 4096 * (64 * 5 * 128 + 3 * 128 * 128));
  EXPECT_EQ(scan_bytes(scan, Bytes(2)).value(), 4096 * (2 * (13 * 128 + 512) + 64 * 12));
  EXPECT_EQ(scan_bytes(scan, Bytes(4)).value() - scan_bytes(scan, Bytes(2)).value(), 4096 * 2 * (13 * 128 + 512));
}

// Of fla's kernels Kimi's takes 1.4 to 1.5 times as long as the delta rule's with one decay a head, on heads of 128.
TEST(LinearForm, DecaysOfChannelsAreReadByEveryKernel) {
  const auto bytes = [](LinearRule rule) { return static_cast<double>(scan_bytes({rule, 8192, 96, 96, 128, 128, 64}, Bytes(2)).value()); };
  EXPECT_NEAR(bytes(LinearRule::ChannelDelta) / bytes(LinearRule::GatedDelta), 1.4, 0.05);
}

TEST(LinearForm, RanksShareHeadsAndShortSamplesAreOneChunk) {
  const Scan scan = scan_of(kState, {.tokens = 96, .sample = 48, .ranks = 4});
  EXPECT_EQ(scan.heads, 32);
  EXPECT_EQ(scan.groups, 2);
  EXPECT_EQ(scan.chunk, 48);
  EXPECT_EQ(scan_of(kState, {.tokens = 4096, .sample = 4096}).chunk, 256);
  const Scan whole = scan_of(kState, {.tokens = 96, .sample = 48});
  EXPECT_EQ(scan_flops(whole).value(), 4 * scan_flops(scan).value());
}

// Of each number of each state nine operations; channels move values, steps, gate, and what comes out twice; B and C are those of all channels.
TEST(LinearForm, ASelectiveScanHasAStateOfEachChannel) {
  const LinearForm form{.rule = LinearRule::Selective, .heads = 1536, .groups = 1536, .key = 16, .value = 1, .step_rank = 48};
  EXPECT_THAT(form.row_blocks(), ElementsAre(1536, 1536)) << "values, gate";
  EXPECT_EQ(form.convolved(), 1536);
  EXPECT_EQ(form.scan_inputs(), 48 + 32);
  const Scan scan = scan_of(form, {.tokens = 4096, .sample = 2048});
  EXPECT_EQ(scan_flops(scan).value(), 9.0 * 4096 * 1536 * 16);
  EXPECT_EQ(scan_bytes(scan, Bytes(2)).value(), 4096 * (2 * (5 * 1536 + 32)) + 2 * 1536 * 16 * 8);
}

TEST(LinearForm, AShortConvolutionStandsBetweenTwoGates) {
  const LinearForm form{.rule = LinearRule::ShortConvolution, .heads = 64, .groups = 64, .key = 1, .value = 1, .convolution = 3};
  EXPECT_THAT(form.row_blocks(), ElementsAre(64, 64, 64)) << "B, C, values";
  EXPECT_EQ(form.convolved(), 64);
  EXPECT_FALSE(form.has_scan());
}

}  // namespace
}  // namespace sim
