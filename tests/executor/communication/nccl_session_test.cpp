#include "executor/communication/nccl_session.h"

#include <ATen/ops/ones.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "executor/communication/nccl_communicator.h"
#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/checked_device/recording.h"
#include "tests/executor/communication/fake_nccl.h"

namespace executor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// before_order: called when a rank leaves a word about its operations.
std::shared_ptr<NcclSession> session_of(
    NcclPlace place, sim::Seconds limit = sim::Seconds(5), const std::function<void()>& before_order = [] {}) {
  Rendezvous rendezvous = fake_rendezvous();
  rendezvous.put = [put = rendezvous.put, before_order](const std::string& name, const std::string& value) {
    if (name.starts_with("order/")) before_order();
    put(name, value);
  };
  return std::make_shared<NcclSession>(NcclSession::Settings{.library = &fake_nccl(),
                                                             .device = checked_device(),
                                                             .rendezvous = rendezvous,
                                                             .place = place,
                                                             .options = {.time_limit = limit},
                                                             .compare_after = sim::Seconds(0.05)});
}
sim::TaskKey key_of(std::int32_t layer) {
  return {.layer = sim::LayerIndex(layer),
          .phase = sim::Phase::Gradients,
          .operation = sim::Operation::AllReduce,
          .group = sim::MeshAxis::Data};
}
const std::vector<sim::Rank> kBoth{sim::Rank(0), sim::Rank(1)};

// What rank 0 says when something goes wrong.
std::string failure_of_rank_0(const std::function<void(NcclPlace)>& rank, std::int32_t ranks = 2) {
  std::string sentence;
  run_ranks(ranks, [&](NcclPlace place) {
    try {
      rank(place);
    } catch (const CollectiveError& error) {
      if (place.rank == 0) sentence = error.what();
    }
  });
  return sentence;
}

void reduce(NcclCommunicator& group, std::int32_t layer) {
  const at::Tensor buffer = at::ones({4}, at::TensorOptions().dtype(at::kDouble).device(checked_device()));
  group.all_reduce(buffer, ReduceOperation::Sum, key_of(layer))->wait();
}

TEST(NcclSession, ARankThatDoesNotComeIsNamedWithTheOperation) {
  reset_fake_nccl({.patience = std::chrono::milliseconds(10)});
  const std::string sentence = failure_of_rank_0([](NcclPlace place) {
    const auto session = session_of(place, sim::Seconds(0.3));
    NcclCommunicator group(session, kBoth, "data", nullptr);
    reduce(group, 1);
    if (place.rank == 0) reduce(group, 2);
    session->watch().drain();
  });
  EXPECT_THAT(sentence, AllOf(HasSubstr("data group of ranks 0 1: rank 0 waited 0.3 s in all_reduce"), HasSubstr(".l2."), HasSubstr("#1 "),
                              HasSubstr("Rank 1 has not come.")));
  EXPECT_EQ(aborted_communicators(), 1) << "rank 0's, from a safe point";
}

TEST(NcclSession, RanksThatDisagreeAreNamedLongBeforeTheLimit) {
  reset_fake_nccl({.patience = std::chrono::milliseconds(10)});
  const auto start = std::chrono::steady_clock::now();
  const std::string sentence = failure_of_rank_0(
      [](NcclPlace place) {
        const auto session = session_of(place, sim::Seconds(20));
        NcclCommunicator all(session, {sim::Rank(0), sim::Rank(1), sim::Rank(2)}, "data", nullptr);
        if (place.rank == 2) return;  // the two others wait for it, and have issued two different operations
        reduce(all, place.rank == 0 ? 1 : 2);
        session->watch().drain();
      },
      3);
  EXPECT_THAT(sentence, AllOf(HasSubstr("the ranks disagree. Rank 1 issued all_reduce"), HasSubstr("while rank 0 issued all_reduce")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));  // the limit
}

TEST(NcclSession, RanksAreNamedByTheirNumbersInTheJob) {
  reset_fake_nccl({.patience = std::chrono::milliseconds(10)});
  const std::vector<sim::Rank> members{sim::Rank(1), sim::Rank(2)};
  std::string sentence;
  run_ranks(3, [&](NcclPlace place) {
    const auto session = session_of(place, sim::Seconds(0.3));
    if (place.rank == 0) return static_cast<void>(session->make_group(members, "data"));
    NcclCommunicator group(session, members, "data", nullptr);
    if (place.rank == 1) return;
    try {
      reduce(group, 1);
      session->watch().drain();
    } catch (const CollectiveError& error) {
      sentence = error.what();
    }
  });
  EXPECT_THAT(sentence, AllOf(HasSubstr("data group of ranks 1 2: rank 2 waited 0."), HasSubstr("Rank 1 has not come.")));
}

// What two ranks issue in the same place of their group, with as many bytes, so that NCCL ends both. Afterwards they go on alike.
struct Disagreement {
  const char* name;
  void (*issue)(NcclCommunicator& group, NcclPlace place);
};
at::Tensor numbers(at::ScalarType type = at::kDouble, std::int64_t count = 4) {
  return at::ones({count}, at::TensorOptions().dtype(type).device(checked_device()));
}
const Disagreement kDisagreements[] = {
    {"another layer", [](NcclCommunicator& group, NcclPlace place) { reduce(group, 7 + place.rank); }},
    {"another reduction",
     [](NcclCommunicator& group, NcclPlace place) {
       group.all_reduce(numbers(), place.rank == 0 ? ReduceOperation::Sum : ReduceOperation::Maximum, key_of(7))->wait();
     }},
    {"another type",
     [](NcclCommunicator& group, NcclPlace place) {
       group.all_reduce(place.rank == 0 ? numbers() : numbers(at::kLong), ReduceOperation::Sum, key_of(7))->wait();
     }},
    {"another operation",
     [](NcclCommunicator& group, NcclPlace place) {
       if (place.rank == 0)
         group.broadcast(numbers(), 0, key_of(7))->wait();
       else
         group.all_reduce(numbers(), ReduceOperation::Sum, key_of(7))->wait();
     }},
    {"another root", [](NcclCommunicator& group, NcclPlace place) { group.broadcast(numbers(), place.rank, key_of(7))->wait(); }},
    {"another size",
     [](NcclCommunicator& group, NcclPlace place) {
       group.all_reduce(numbers(at::kDouble, 4 - place.rank), ReduceOperation::Sum, key_of(7))->wait();
     }},
};

TEST(NcclSession, OperationsThatDisagreeAndEndAreNamedAsSoon) {
  for (const Disagreement& disagreement : kDisagreements) {
    SCOPED_TRACE(disagreement.name);
    reset_fake_nccl({.patience = std::chrono::milliseconds(10)});
    const auto start = std::chrono::steady_clock::now();
    const std::string sentence = failure_of_rank_0([&](NcclPlace place) {
      NcclCommunicator group(session_of(place), kBoth, "data", nullptr);
      for (std::int32_t layer = 0; layer < 3; ++layer) reduce(group, layer);
      disagreement.issue(group, place);
      while (std::chrono::steady_clock::now() - start < std::chrono::seconds(10)) reduce(group, 1);
    });
    EXPECT_THAT(sentence, AllOf(HasSubstr("data group of ranks 0 1: the ranks disagree. Rank 1 issued "), HasSubstr(".l7."),
                                HasSubstr("#3 "), HasSubstr("while rank 0 issued ")));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  }
}

TEST(NcclSession, RanksThatAgreeAtTheirOwnPaceAreLeftAlone) {
  reset_fake_nccl({});
  EXPECT_EQ(failure_of_rank_0([](NcclPlace place) {
              const auto session = session_of(place);
              NcclCommunicator data(session, kBoth, "data", nullptr), world(session, kBoth, "world", nullptr);
              for (std::int32_t step = 0; step < 40; ++step) {
                if (step % 8 == place.rank) std::this_thread::sleep_for(std::chrono::milliseconds(60));
                reduce(data, step);
                sim::TaskKey key = key_of(step + place.rank);  // ranks of the world name their own stage and layer
                key.group = sim::MeshAxis::World;
                world.all_reduce(numbers(), ReduceOperation::Sum, key)->wait();
              }
            }),
            "");
}

TEST(NcclSession, AStoreThatHasEndedEndsTheComparisonAlone) {
  reset_fake_nccl({});
  EXPECT_EQ(failure_of_rank_0([](NcclPlace place) {
              const auto session = session_of(place, sim::Seconds(5), [] { throw CollectiveError("the store is gone"); });
              NcclCommunicator group(session, kBoth, "data", nullptr);
              for (std::int32_t step = 0; step < 3; ++step) {
                std::this_thread::sleep_for(std::chrono::milliseconds(60));
                reduce(group, 1);
              }
            }),
            "");
}

TEST(NcclSession, AnErrorThatComesByItselfEndsAllCommunicators) {
  reset_fake_nccl({});
  const std::string sentence = failure_of_rank_0([](NcclPlace place) {
    const auto session = session_of(place);
    NcclCommunicator data(session, kBoth, "data", nullptr), tensor(session, kBoth, "tensor", nullptr);
    reduce(data, 1);
    if (place.rank == 0) reset_fake_nccl({.failing_rank = 0});
    reduce(tensor, 2);
    session->watch().drain();
  });
  EXPECT_THAT(sentence, AllOf(HasSubstr("NCCL reports on rank 0: fake error 6")));
  EXPECT_GE(aborted_communicators(), 2);
}

// As NCCL, which ends no communicator that a graph holds: who holds one longer than its session would wait without end.
TEST(NcclSession, WhatAGraphHoldsIsLookedAfterOnceItIsReplayed) {
  reset_fake_nccl({});
  run_ranks(2, [](NcclPlace place) {
    const c10::impl::VirtualGuardImpl device(checked_device().type());
    device.exchangeStream(device.getStreamFromGlobalPool(checked_device()));
    const auto session = session_of(place);
    Ledger ledger;
    NcclCommunicator group(session, kBoth, "data", &ledger);
    const at::Tensor buffer = numbers();
    begin_recording();
    session->begin_recording();
    group.all_reduce(buffer, ReduceOperation::Sum, key_of(1))->wait();
    session->end_recording();
    const std::function<void()> replay = end_recording();
    EXPECT_EQ(buffer.cpu().data_ptr<double>()[0], 1) << "recorded, not performed";
    EXPECT_EQ(ledger.size(), 0U);
    for (const double expected : {2.0, 4.0}) {
      replay();
      session->replayed();
      session->watch().drain();
      EXPECT_EQ(buffer.cpu().data_ptr<double>()[0], expected);
    }
    EXPECT_EQ(ledger.size(), 2U);
  });
}

TEST(NcclSession, NamesTheGroupThatDoesNotComeIntoBeing) {
  reset_fake_nccl({});
  const std::string sentence = failure_of_rank_0([](NcclPlace place) {
    const auto session = session_of(place, sim::Seconds(0.2));
    if (place.rank == 0) session->make_group(kBoth, "data");
  });
  EXPECT_THAT(sentence, AllOf(HasSubstr("data group of ranks 0 1: rank 0 waited 0.2 s in making its communicator")));
}

// NCCL itself would wait for it without end.
TEST(NcclSession, NamesTheRankThatDoesNotComeToMakeAPart) {
  reset_fake_nccl({});
  const std::string sentence = failure_of_rank_0([](NcclPlace place) {
    const auto session = session_of(place, sim::Seconds(0.2));
    session->make_group(kBoth, "world");
    if (place.rank == 0) session->make_group(kBoth, "data");
  });
  EXPECT_THAT(sentence,
              AllOf(HasSubstr("data group of ranks 0 1: rank 0 waited 0."), HasSubstr("in making its communicator. Rank 1 has not come.")));
  EXPECT_EQ(aborted_communicators(), 1) << "the whole, of which the part was to be made";
}

TEST(NcclSession, MakesTheSameGroupsInTheSameOrder) {
  reset_fake_nccl({});
  run_ranks(4, [](NcclPlace place) {
    const auto session = session_of(place);
    for (const auto& [one, two] : {std::pair{0, 1}, {2, 3}, {0, 2}, {1, 3}, {3, 0}}) {
      const NcclGroup* const group = session->make_group({sim::Rank(one), sim::Rank(two)}, "pair");
      EXPECT_EQ(group != nullptr, place.rank == one || place.rank == two);
      if (group != nullptr) {
        EXPECT_EQ(group->rank, place.rank == one ? 0 : 1);
      }
    }
  });
}

}  // namespace
}  // namespace executor
