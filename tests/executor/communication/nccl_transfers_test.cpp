#include "executor/communication/nccl_transfers.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/communication/fake_nccl.h"

namespace executor {
namespace {

sim::TaskKey transfer_key(sim::Phase phase, std::int32_t microbatch) {
  return {.microbatch = sim::MicrobatchIndex(microbatch),
          .layer = sim::LayerIndex(1),
          .phase = phase,
          .operation = sim::Operation::Send,
          .group = sim::MeshAxis::Pipeline};
}

// Two stages whose flows cross: each direction keeps its own order, though both ends mix them differently.
TEST(NcclTransfers, FlowsDoNotStandInEachOthersWay) {
  reset_fake_nccl({});
  run_ranks(2, [](NcclPlace place) {
    const auto session = std::make_shared<NcclSession>(NcclSession::Settings{
        .library = &fake_nccl(), .device = checked_device(), .rendezvous = fake_rendezvous(), .place = place, .options = {}});
    Ledger ledger;
    NcclTransfers pipeline(session, {.data = 1, .pipeline = 2, .tensor = 1}, &ledger);
    const std::int32_t peer = 1 - place.rank;
    const auto number = [](std::int32_t rank, sim::Phase phase, std::int32_t at) {
      return rank * 100.0 + (phase == sim::Phase::Forward ? 10 : 20) + at;
    };
    const auto options = at::TensorOptions().dtype(at::kDouble).device(checked_device());
    std::vector<std::pair<sim::Phase, std::int32_t>> order{{sim::Phase::Forward, 0}, {sim::Phase::Forward, 1}, {sim::Phase::Backward, 0}};
    for (const auto& [phase, at] : order)
      pipeline.send(at::full({3}, number(place.rank, phase, at), options), peer, transfer_key(phase, at))->wait();
    if (place.rank == 1) std::rotate(order.begin(), order.begin() + 2, order.end());
    for (const auto& [phase, at] : order) {
      const at::Tensor received = at::empty({3}, options);
      pipeline.receive(received, peer, transfer_key(phase, at))->wait();
      session->watch().drain();
      EXPECT_EQ(received.cpu().data_ptr<double>()[2], number(peer, phase, at));
    }
    EXPECT_EQ(ledger.size(), 6U);
    EXPECT_EQ(ledger.front().group_size, 2);
  });
}

TEST(NcclTransfers, RefusesStrangersAndCollectives) {
  reset_fake_nccl({});
  run_ranks(3, [](NcclPlace place) {
    const auto session = std::make_shared<NcclSession>(NcclSession::Settings{
        .library = &fake_nccl(), .device = checked_device(), .rendezvous = fake_rendezvous(), .place = place, .options = {}});
    NcclTransfers pipeline(session, {.data = 1, .pipeline = 3, .tensor = 1}, nullptr);
    EXPECT_THROW(pipeline.send(at::full({1}, 1.0), place.rank, transfer_key(sim::Phase::Forward, 0)), std::invalid_argument);
    EXPECT_THROW(pipeline.gather_from_owners({}, {}), std::invalid_argument);
    EXPECT_THROW(pipeline.barrier(), std::invalid_argument);
  });
}

}  // namespace
}  // namespace executor
