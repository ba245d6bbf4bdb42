#include "executor/kernels/square_sums.h"

#include <gtest/gtest.h>

#include <vector>

namespace executor {
namespace {

double drawn_in_the_header(const double* x) {
  double lane[8] = {};
  for (int i = 0; i < 64; ++i) lane[i % 8] += x[i] * x[i];
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

TEST(SquareSums, FollowsTheStatedOrder) {
  std::vector<double> values;
  for (int i = 0; i < 64 * 5; ++i) values.push_back(0.1 * ((i * 7919) % 1009 - 500));
  std::vector<double> sums(5);
  square_sums(SquareBlocks<double>{.values = values.data(), .blocks = 5, .sums = sums.data()});
  for (std::size_t block = 0; block < 5; ++block) EXPECT_EQ(sums[block], drawn_in_the_header(values.data() + 64 * block));
}

TEST(SquareSums, SumsShortTypesInDouble) {
  std::vector<float> values(64, 1e-3F);
  values[0] = 1e20F;  // its square is no fp32
  std::vector<Bfloat16Bits> halves(64, {0x3f80});
  double sum = 0, ones = 0;
  square_sums(SquareBlocks<float>{.values = values.data(), .blocks = 1, .sums = &sum});
  square_sums(SquareBlocks<Bfloat16Bits>{.values = halves.data(), .blocks = 1, .sums = &ones});
  EXPECT_EQ(sum, static_cast<double>(1e20F) * static_cast<double>(1e20F));
  EXPECT_EQ(ones, 64.0);
}

}  // namespace
}  // namespace executor
