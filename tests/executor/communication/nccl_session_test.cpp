#include "executor/communication/nccl_session.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/communication/nccl_communicator.h"
#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/communication/fake_nccl.h"

namespace executor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::shared_ptr<NcclSession> session_of(NcclPlace place, sim::Seconds limit = sim::Seconds(5)) {
  return std::make_shared<NcclSession>(NcclSession::Settings{.library = &fake_nccl(),
                                                             .device = checked_device(),
                                                             .rendezvous = fake_rendezvous(),
                                                             .place = place,
                                                             .options = {.time_limit = limit},
                                                             .compare_after = sim::Seconds(0.05)});
}
sim::TaskKey key_of(std::int32_t layer) {
  return {.layer = sim::LayerIndex(layer), .phase = sim::Phase::Gradients, .operation = sim::Operation::AllReduce, .group = sim::MeshAxis::Data};
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
    session->drain();
  });
  EXPECT_THAT(sentence, AllOf(HasSubstr("data group of ranks 0 1: rank 0 waited 0.3 s in all_reduce"), HasSubstr(".l2."), HasSubstr("#1 "),
                              HasSubstr("Rank 1 has not come.")));
  EXPECT_EQ(aborted_communicators(), 1) << "rank 0's, from a safe point";
}

TEST(NcclSession, RanksThatDisagreeAreNamedLongBeforeTheLimit) {
  reset_fake_nccl({.patience = std::chrono::milliseconds(10)});
  const auto start = std::chrono::steady_clock::now();
  const std::string sentence = failure_of_rank_0([](NcclPlace place) {
    const auto session = session_of(place, sim::Seconds(20));
    NcclCommunicator all(session, {sim::Rank(0), sim::Rank(1), sim::Rank(2)}, "data", nullptr);
    if (place.rank == 2) return;  // the two others wait for it, and have issued two different operations
    reduce(all, place.rank == 0 ? 1 : 2);
    session->drain();
  }, 3);
  EXPECT_THAT(sentence, AllOf(HasSubstr("the ranks disagree. Rank 1 issued all_reduce"), HasSubstr("while rank 0 issued all_reduce")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(NcclSession, AnErrorThatComesByItselfEndsAllCommunicators) {
  reset_fake_nccl({});
  const std::string sentence = failure_of_rank_0([](NcclPlace place) {
    const auto session = session_of(place);
    NcclCommunicator data(session, kBoth, "data", nullptr), tensor(session, kBoth, "tensor", nullptr);
    reduce(data, 1);
    if (place.rank == 0) reset_fake_nccl({.failing_rank = 0});
    reduce(tensor, 2);
    session->drain();
  });
  EXPECT_THAT(sentence, AllOf(HasSubstr("NCCL reports on rank 0: fake error 6")));
  EXPECT_GE(aborted_communicators(), 2);
}

TEST(NcclSession, NamesTheGroupThatDoesNotComeIntoBeing) {
  reset_fake_nccl({});
  const std::string sentence = failure_of_rank_0([](NcclPlace place) {
    const auto session = session_of(place, sim::Seconds(0.2));
    if (place.rank == 0) session->make_group(kBoth, "data");
  });
  EXPECT_THAT(sentence, AllOf(HasSubstr("data group of ranks 0 1: rank 0 waited 0.2 s in making its communicator")));
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
