#include "executor/communication/nccl_communicator.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

#include "executor/communication/mesh_communicators.h"
#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/communication/fake_nccl.h"

namespace executor {
namespace {

std::shared_ptr<NcclSession> nccl_session_of(NcclPlace place) {
  return std::make_shared<NcclSession>(NcclSession::Settings{
      .library = &fake_nccl(), .device = checked_device(), .rendezvous = fake_rendezvous(), .place = place, .options = {}});
}
at::TensorOptions there() { return at::TensorOptions().dtype(at::kDouble).device(checked_device()); }
sim::TaskKey some_key(sim::Operation operation) {
  return {.layer = sim::LayerIndex(1), .phase = sim::Phase::Forward, .operation = operation, .group = sim::MeshAxis::Data};
}
double number(const at::Tensor& tensor, std::int64_t at) { return tensor.cpu().data_ptr<double>()[at]; }

TEST(NcclCommunicator, PerformsEveryOperation) {
  reset_fake_nccl({});
  run_ranks(2, [](NcclPlace place) {
    const auto session = nccl_session_of(place);
    Ledger ledger;
    NcclCommunicator group(session, {sim::Rank(0), sim::Rank(1)}, "data", &ledger);
    EXPECT_EQ(group.rank(), place.rank);
    const at::Tensor buffer = at::full({4}, place.rank + 1.0, there());
    group.all_reduce(buffer, ReduceOperation::Sum, some_key(sim::Operation::AllReduce))->wait();
    group.all_reduce(buffer, ReduceOperation::Maximum, some_key(sim::Operation::AllReduce))->wait();
    session->watch().drain();
    EXPECT_EQ(number(buffer, 3), 3);
    const at::Tensor full = at::arange(4, there()), shard = at::empty({2}, there());
    group.reduce_scatter(shard, full, some_key(sim::Operation::ReduceScatter))->wait();
    session->watch().drain();
    EXPECT_EQ(number(shard, 1), 2 * (2 * place.rank + 1));
    group.all_gather(full, shard, some_key(sim::Operation::AllGather))->wait();
    session->watch().drain();
    EXPECT_EQ(number(full, 3), 6);
    const at::Tensor sent = at::arange(4, there()).add_(10.0 * place.rank), came = at::empty({4}, there());
    group.all_to_all(came, sent, some_key(sim::Operation::AllToAll))->wait();
    session->watch().drain();
    EXPECT_EQ(number(came, 1), 2 * place.rank + 1) << "rank 0's chunk for this rank";
    EXPECT_EQ(number(came, 3), 2 * place.rank + 11);
    group.ring_hop(came, sent, some_key(sim::Operation::RingHop))->wait();
    session->watch().drain();
    EXPECT_EQ(number(came, 2), 10 * (1 - place.rank) + 2);
    const at::Tensor word = at::full({1}, place.rank * 7.0, there());
    group.broadcast(word, 1, some_key(sim::Operation::AllGather))->wait();
    session->watch().drain();
    EXPECT_EQ(number(word, 0), 7);
    group.barrier();
    ASSERT_EQ(ledger.size(), 7U) << "barriers are left out";
    EXPECT_EQ(ledger[2].payload, sim::Bytes(32)) << "the whole buffer, as over MPI";
    EXPECT_EQ(ledger[3].group_size, 2);
    const RowExchange rows{.sent = at::full({3, 2}, place.rank, there()),
                           .received = at::empty({place.rank == 0 ? 1 : 5, 2}, there()),
                           .to = {place.rank == 0 ? 1 : 0, place.rank == 0 ? 2 : 3},
                           .from = place.rank == 0 ? std::vector<std::int64_t>{1, 0} : std::vector<std::int64_t>{2, 3}};
    group.exchange(rows, some_key(sim::Operation::AllToAll))->wait();
    session->watch().drain();
    EXPECT_EQ(number(rows.received, 0), 0);
    EXPECT_EQ(number(rows.received, rows.received.numel() - 1), place.rank);
    EXPECT_EQ(ledger.back().payload, sim::Bytes(3 * 2 * 8)) << "the rank's own rows";
  });
}

TEST(NcclCommunicator, OwnersHaveUnequalParts) {
  reset_fake_nccl({});
  run_ranks(2, [](NcclPlace place) {
    const auto session = nccl_session_of(place);
    Ledger ledger;
    NcclCommunicator group(session, {sim::Rank(0), sim::Rank(1)}, "data", &ledger);
    const OwnedParts parts{at::arange(4, there()).add_(10.0 * place.rank), {1, 3}};
    const at::Tensor own = at::empty({place.rank == 0 ? 1 : 3}, there());
    group.reduce_to_owners(own, parts, some_key(sim::Operation::ReduceScatter))->wait();
    session->watch().drain();
    EXPECT_EQ(number(own, 0), place.rank == 0 ? 10 : 12);
    group.gather_from_owners(parts, some_key(sim::Operation::AllGather))->wait();
    session->watch().drain();
    EXPECT_EQ(number(parts.whole, 0), 0);
    EXPECT_EQ(number(parts.whole, 3), 13);
    ASSERT_EQ(ledger.size(), 2U) << "one operation each";
    EXPECT_EQ(ledger[0].payload, sim::Bytes(32));
    const OwnedParts all_of_one{at::full({2}, place.rank, there()), {0, 2}};
    group.gather_from_owners(all_of_one, some_key(sim::Operation::AllGather))->wait();
    session->watch().drain();
    EXPECT_EQ(number(all_of_one.whole, 0), 1);
  });
}

TEST(NcclCommunicator, HostTensorsGoByWayOfTheDeviceAndAreThereAfterTheWait) {
  reset_fake_nccl({});
  run_ranks(2, [](NcclPlace place) {
    NcclCommunicator group(nccl_session_of(place), {sim::Rank(0), sim::Rank(1)}, "world", nullptr);
    const at::Tensor limbs = at::full({136}, std::int64_t{1} + place.rank, at::kLong);
    group.all_reduce(limbs, ReduceOperation::Sum, some_key(sim::Operation::AllReduce))->wait();
    EXPECT_EQ(limbs.data_ptr<std::int64_t>()[135], 3);
  });
}

TEST(NcclCommunicator, AnOperationIsOrderedByItsStream) {
  reset_fake_nccl({});
  EXPECT_THROW(run_ranks(1,
                         [](NcclPlace place) {
                           NcclCommunicator group(nccl_session_of(place), {sim::Rank(0)}, "data", nullptr);
                           const at::Tensor buffer = at::full({4}, 1.0, there());
                           const c10::impl::VirtualGuardImpl device(checked_device().type());
                           const c10::StreamGuard on(device.getStreamFromGlobalPool(checked_device()));
                           group.all_reduce(buffer, ReduceOperation::Sum, some_key(sim::Operation::AllReduce))->wait();
                         }),
               c10::Error)
      << "nobody made that stream wait for the one that filled the buffer";
}

TEST(NcclCommunicator, JoinsTheRanksOfTheMesh) {
  reset_fake_nccl({});
  run_ranks(8, [](NcclPlace place) {
    const sim::DeviceMesh shape{.data = 2, .pipeline = 2, .tensor = 2};
    MeshCommunicators mesh(shape, Transport(nullptr, nccl_session_of(place)));
    for (const sim::MeshAxis axis : {sim::MeshAxis::World, sim::MeshAxis::Data, sim::MeshAxis::Tensor, sim::MeshAxis::Embedding}) {
      std::int64_t expected = 0;
      for (const sim::Rank member : shape.group(mesh.rank(), axis)) expected |= std::int64_t{1} << member.value();
      const at::Tensor joined = at::full({1}, std::int64_t{1} << place.rank, at::kLong);
      mesh.of(axis).all_reduce(joined, ReduceOperation::Sum, some_key(sim::Operation::AllReduce))->wait();
      EXPECT_EQ(*joined.data_ptr<std::int64_t>(), expected) << static_cast<int>(axis);
    }
  });
}

}  // namespace
}  // namespace executor
