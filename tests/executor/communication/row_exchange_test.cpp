#include "executor/communication/row_exchange.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace executor {
namespace {

TEST(RowExchange, AnEvenOneHasAChunkForEachRank) {
  const at::Tensor sent = at::arange(12, at::kFloat), received = at::empty({3, 4});
  const RowExchange rows = even_exchange(received, sent, 3);
  EXPECT_EQ(rows.to, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(rows.from, rows.to);
  EXPECT_EQ(rows.sent.size(1), 4);
  EXPECT_EQ(rows.own_bytes(), 48);
}

TEST(RowExchange, ARingGoesOneRankOn) {
  const at::Tensor sent = at::arange(6, at::kFloat), received = at::empty({6});
  const RowExchange rows = ring_exchange(received, sent, {.rank = 0, .size = 3});
  EXPECT_EQ(rows.to, (std::vector<std::int64_t>{0, 1, 0}));
  EXPECT_EQ(rows.from, (std::vector<std::int64_t>{0, 0, 1}));
  const RowExchange alone = ring_exchange(received, sent, {.rank = 0, .size = 1});
  EXPECT_EQ(alone.to, alone.from);
}

TEST(RowExchange, RefusesWhatHasNoEqualChunks) {
  EXPECT_THROW(even_exchange(at::empty({4}), at::empty({6}), 2), std::invalid_argument);
  EXPECT_THROW(even_exchange(at::empty({5}), at::empty({5}), 2), std::invalid_argument);
  EXPECT_THROW(ring_exchange(at::empty({4}), at::empty({4}, at::kDouble), {.rank = 0, .size = 2}), std::invalid_argument);
}

}  // namespace
}  // namespace executor
