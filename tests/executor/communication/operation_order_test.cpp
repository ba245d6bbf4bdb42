#include "executor/communication/operation_order.h"

#include <gtest/gtest.h>

namespace executor {
namespace {

OperationHeader operation(std::int64_t sequence, std::int64_t bytes = 64) {
  return {.key = {.layer = sim::LayerIndex(3), .phase = sim::Phase::Gradients, .group = sim::MeshAxis::Data},
          .sequence = sequence,
          .bytes = bytes,
          .kind = OperationKind::AllReduce};
}
OperationOrder order_of(std::initializer_list<std::int64_t> amounts) {
  OperationOrder order;
  for (const std::int64_t bytes : amounts) order.add(operation(order.now().count, bytes));
  return order;
}

TEST(OperationOrder, AgreesWithWhoIsBehindOrAhead) {
  const OperationOrder one = order_of({8, 16, 24, 32}), behind = order_of({8, 16});
  EXPECT_TRUE(one.agrees(behind.now()));
  EXPECT_TRUE(behind.agrees(one.now())) << "not yet known here";
  EXPECT_TRUE(one.agrees({}));
}

TEST(OperationOrder, ADifferenceIsSeenHoweverLongAgo) {
  const OperationOrder one = order_of({8, 16, 24, 32}), other = order_of({8, 17, 24, 32});
  EXPECT_FALSE(one.agrees(other.now()));
  const auto found = one.first_difference(other.log());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->here.bytes, 16);
  EXPECT_EQ(found->there.bytes, 17);
  EXPECT_FALSE(one.first_difference(one.log()));
}

TEST(OperationOrder, ForgetsTheDistantPast) {
  OperationOrder one, other;
  one.add(operation(0, 8));
  other.add(operation(0, 16));
  const OperationOrder::Point early = other.now();
  for (std::int64_t at = 1; at < 5000; ++at) one.add(operation(at)), other.add(operation(at));
  EXPECT_TRUE(one.agrees(early));
  EXPECT_FALSE(one.agrees(other.now())) << "the digest does not";
  EXPECT_LE(one.log().size(), 4096 * sizeof(OperationHeader));
}

// Every field that must be alike is in the digest.
TEST(OperationOrder, TheDigestDiffersWhereOperationsDo) {
  const OperationHeader one = operation(5);
  const std::function<void(OperationHeader&)> kChanges[] = {
      [](auto& other) { other.sequence = 6; },
      [](auto& other) { other.bytes = 65; },
      [](auto& other) { other.kind = OperationKind::Broadcast; },
      [](auto& other) { other.reduction = ReduceOperation::Maximum; },
      [](auto& other) { other.type = c10::ScalarType::Float; },
      [](auto& other) { other.root = 1; },
      [](auto& other) { other.key.stage = sim::StageIndex(1); },
      [](auto& other) { other.key.chunk = sim::ChunkIndex(1); },
      [](auto& other) { other.key.microbatch = sim::MicrobatchIndex(1); },
      [](auto& other) { other.key.layer = sim::LayerIndex(1); },
      [](auto& other) { other.key.phase = sim::Phase::Step; },
      [](auto& other) { other.key.operation = sim::Operation::AllGather; },
      [](auto& other) { other.key.group = sim::MeshAxis::Tensor; },
      [](auto& other) { other.key.sequence = 1; },
      [](auto& other) { other.transfer.boundary = 1; },
      [](auto& other) { other.transfer.microbatch = 1; },
      [](auto& other) { other.transfer.phase = sim::Phase::Backward; },
  };
  for (const auto& change : kChanges) {
    OperationHeader other = one;
    change(other);
    EXPECT_FALSE(same_operation(one, other)) << &change - kChanges;
    EXPECT_NE(digest(one, 9), digest(other, 9)) << &change - kChanges;
  }
  EXPECT_EQ(digest(one, 9), digest(one, 9));
  EXPECT_NE(digest(one, 9), digest(one, 8)) << "and of what came before";
}

}  // namespace
}  // namespace executor
