#include "executor/communication/operation_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

using ::testing::HasSubstr;

OperationHeader reduction(sim::MeshAxis group) {
  return {.key = {.stage = sim::StageIndex(0),
                  .chunk = sim::ChunkIndex(0),
                  .microbatch = sim::MicrobatchIndex(1),
                  .layer = sim::LayerIndex(2),
                  .phase = sim::Phase::Gradients,
                  .operation = sim::Operation::AllReduce,
                  .group = group,
                  .sequence = 3},
          .sequence = 17,
          .bytes = 4096,
          .kind = OperationKind::AllReduce,
          .reduction = ReduceOperation::Sum,
          .type = c10::ScalarType::Float,
          .root = 0,
          .transfer = {}};
}

TEST(OperationHeader, EveryFieldCounts) {
  const auto one = reduction(sim::MeshAxis::Data);
  EXPECT_TRUE(same_operation(one, one));
  const auto differs = [&](auto change) {
    auto other = one;
    change(other);
    return !same_operation(one, other) && !same_operation(other, one);
  };
  EXPECT_TRUE(differs([](OperationHeader& h) { h.bytes = 4100; }));
  EXPECT_TRUE(differs([](OperationHeader& h) { h.sequence = 18; }));
  EXPECT_TRUE(differs([](OperationHeader& h) { h.kind = OperationKind::AllGather; }));
  EXPECT_TRUE(differs([](OperationHeader& h) { h.reduction = ReduceOperation::Maximum; }));
  EXPECT_TRUE(differs([](OperationHeader& h) { h.type = c10::ScalarType::Int; }));
  EXPECT_TRUE(differs([](OperationHeader& h) { h.root = 1; }));
  EXPECT_TRUE(differs([](OperationHeader& h) { h.key.layer = sim::LayerIndex(1); }));
  EXPECT_TRUE(differs([](OperationHeader& h) { h.key.sequence = 4; }));
}

TEST(OperationHeader, GroupsAcrossStagesNameTheirOwnLayer) {
  for (const auto group : {sim::MeshAxis::World, sim::MeshAxis::Embedding}) {
    const auto one = reduction(group);
    auto other = one;
    other.key.stage = sim::StageIndex(1);
    other.key.layer = sim::LayerIndex(9);
    EXPECT_TRUE(same_operation(one, other));
    other.key.phase = sim::Phase::Step;
    EXPECT_FALSE(same_operation(one, other));
  }
}

sim::TaskKey end_of_transfer(sim::Phase phase, sim::Operation operation, std::int32_t layer) {
  return {.stage = {},
          .chunk = {},
          .microbatch = sim::MicrobatchIndex(5),
          .layer = sim::LayerIndex(layer),
          .phase = phase,
          .operation = operation,
          .group = sim::MeshAxis::Pipeline,
          .sequence = 0};
}

//   forward: layers 0 1 2 send to 3 4 5        backward: layers 3 4 5 send to 0 1 2
TEST(OperationHeader, BothEndsOfATransferAgree) {
  const auto identity = [](sim::Phase phase, sim::Operation operation, std::int32_t layer, TransferEnd end) {
    return transfer_identity(end_of_transfer(phase, operation, layer), end);
  };
  using sim::Operation, sim::Phase;
  EXPECT_EQ(identity(Phase::Forward, Operation::Send, 2, TransferEnd::Sender),
            identity(Phase::Forward, Operation::Receive, 3, TransferEnd::Receiver));
  EXPECT_EQ(identity(Phase::Backward, Operation::Send, 3, TransferEnd::Sender),
            identity(Phase::Backward, Operation::Receive, 2, TransferEnd::Receiver));
  EXPECT_NE(identity(Phase::Forward, Operation::Send, 2, TransferEnd::Sender),
            identity(Phase::Forward, Operation::Receive, 5, TransferEnd::Receiver));
  EXPECT_NE(identity(Phase::Forward, Operation::Send, 2, TransferEnd::Sender),
            identity(Phase::Backward, Operation::Send, 3, TransferEnd::Sender));
}

TEST(OperationHeader, TextNamesWhatIsDone) {
  const auto text = to_text(reduction(sim::MeshAxis::Data));
  EXPECT_THAT(text, HasSubstr("all_reduce"));
  EXPECT_THAT(text, HasSubstr(sim::to_text(reduction(sim::MeshAxis::Data).key)));
  EXPECT_THAT(text, HasSubstr("#17"));
  EXPECT_THAT(text, HasSubstr("4096 bytes of Float"));
}

}  // namespace
}  // namespace executor
