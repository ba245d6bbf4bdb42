#include "executor/communication/nccl_watch.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "executor/communication/nccl_communicator.h"
#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/communication/fake_nccl.h"

namespace executor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::shared_ptr<NcclSession> watched(NcclPlace place, sim::Seconds compare_after, sim::Seconds limit = sim::Seconds(5),
                                     const NcclLibrary& library = fake_nccl()) {
  return std::make_shared<NcclSession>(NcclSettings{.library = &library,
                                                    .device = checked_device(),
                                                    .rendezvous = fake_rendezvous(),
                                                    .place = place,
                                                    .options = {.time_limit = limit},
                                                    .compare_after = compare_after});
}
const std::vector<sim::Rank> kBothRanks{sim::Rank(0), sim::Rank(1)};

WorkHandle summed(NcclCommunicator& group, std::int32_t layer) {
  const at::Tensor buffer = at::ones({4}, at::TensorOptions().dtype(at::kDouble).device(checked_device()));
  return group.all_reduce(buffer, ReduceOperation::Sum,
                          {.layer = sim::LayerIndex(layer), .phase = sim::Phase::Gradients, .operation = sim::Operation::AllReduce});
}

TEST(NcclWatch, AsksNothingOfOperationsThatGoWell) {
  constexpr std::int32_t kOperations = 300;
  reset_fake_nccl({});
  run_ranks(2, [](NcclPlace place) {
    NcclCommunicator group(watched(place, sim::Seconds(1)), kBothRanks, "data", nullptr);
    for (std::int32_t layer = 0; layer < kOperations; ++layer) summed(group, layer)->wait();
  });
  EXPECT_EQ(fake_nccl_calls().operations, 2 * kOperations);
  EXPECT_LT(fake_nccl_calls().states, kOperations / 4);
}

TEST(NcclWatch, WhatWentWellIsFinalisedThenDestroyed) {
  reset_fake_nccl({});
  run_ranks(2, [](NcclPlace place) {
    const auto session = watched(place, sim::Seconds(1));
    NcclCommunicator data(session, kBothRanks, "data", nullptr), world(session, kBothRanks, "world", nullptr);
    summed(data, 1)->wait();
  });
  EXPECT_EQ(fake_nccl_calls().finalised, 4);
  EXPECT_EQ(fake_nccl_calls().destroyed, 4);
  EXPECT_EQ(fake_nccl_calls().aborted, 0);
}

// Whoever waits for the device waits without us: the watch has a timer of its own.
TEST(NcclWatch, AHangEndsWithoutACallOfOurs) {
  reset_fake_nccl({.patience = std::chrono::milliseconds(10)});
  std::string sentence;
  run_ranks(2, [&](NcclPlace place) {
    const auto session = watched(place, sim::Seconds(0.05), sim::Seconds(0.3));
    NcclCommunicator group(session, kBothRanks, "data", nullptr);
    summed(group, 1)->wait();
    if (place.rank == 1) return;
    const WorkHandle lost = summed(group, 2);
    for (int look = 0; look < 200 && !session->watch().has_failed(); ++look) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    try {
      lost->wait();
    } catch (const CollectiveError& error) {
      sentence = error.what();
    }
  });
  EXPECT_THAT(sentence, AllOf(HasSubstr("rank 0 waited 0."), HasSubstr(".l2."), HasSubstr("Rank 1 has not come."),
                              HasSubstr("The last operations of rank 0: all_reduce"), HasSubstr(".l1."),
                              HasSubstr("in the data group of ranks 0 1")));
  EXPECT_EQ(fake_nccl_calls().aborted, 1);
  EXPECT_EQ(fake_nccl_calls().finalised, 1) << "of the rank that had nothing to wait for";
  EXPECT_EQ(fake_nccl_calls().destroyed, 1);
}

// An abort frees what it ends: meanwhile the watch must not ask NCCL about it.
TEST(NcclWatch, NothingIsAskedWhileAllAreEnded) {
  static std::atomic<bool> is_asked = false, were_together = false;
  NcclLibrary slow = fake_nccl();
  slow.state = [](NcclHandle handle) {
    is_asked = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    is_asked = false;
    return fake_nccl().state(handle);
  };
  slow.abort = [](NcclHandle handle) {
    if (is_asked) were_together = true;
    return fake_nccl().abort(handle);
  };
  reset_fake_nccl({});
  run_ranks(1, [&](NcclPlace place) {
    const auto session = watched(place, sim::Seconds(0.01), sim::Seconds(5), slow);
    NcclCommunicator alone(session, {sim::Rank(0)}, "data", nullptr);
    while (!is_asked) std::this_thread::yield();
    EXPECT_THROW(session->watch().fail("it is over"), CollectiveError);
  });
  EXPECT_FALSE(were_together);
  EXPECT_EQ(fake_nccl_calls().aborted, 1);
}

TEST(NcclWatch, TheFirstFailureStays) {
  reset_fake_nccl({});
  run_ranks(1, [](NcclPlace place) {
    const auto session = watched(place, sim::Seconds(1));
    NcclCommunicator alone(session, {sim::Rank(0)}, "data", nullptr);
    EXPECT_THROW(session->watch().fail("the first"), CollectiveError);
    try {
      session->watch().fail("the second");
    } catch (const CollectiveError& error) {
      EXPECT_THAT(error.what(), HasSubstr("the first"));
    }
    EXPECT_THROW(summed(alone, 1), CollectiveError);
  });
  EXPECT_EQ(fake_nccl_calls().aborted, 1);
  EXPECT_EQ(fake_nccl_calls().finalised, 0);
}

}  // namespace
}  // namespace executor
