#include "executor/communication/mesh_communicators.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "mpi_test.h"
#include "sim/units/input_error.h"

namespace executor {
namespace {

constexpr sim::MeshAxis kAxes[] = {sim::MeshAxis::World, sim::MeshAxis::Data, sim::MeshAxis::Tensor, sim::MeshAxis::Embedding};

// Which ranks an axis joins: every rank brings 1 << its number.
std::int64_t joined(MeshCommunicators& mesh, sim::MeshAxis axis) {
  const at::Tensor ranks = at::full({1}, std::int64_t{1} << mesh.rank().value(), at::kLong);
  mesh.of(axis).all_reduce(ranks, ReduceOperation::Sum, key(1))->wait();
  return ranks.item<std::int64_t>();
}

std::vector<sim::DeviceMesh> meshes_of(std::int32_t ranks) {
  std::vector<sim::DeviceMesh> meshes;
  for (const auto& [data, pipeline, tensor] :
       {std::array{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {3, 1, 1}, {1, 3, 1}, {2, 2, 1}, {2, 1, 2}, {1, 2, 2}, {1, 4, 1}}) {
    if (data * pipeline * tensor == ranks) meshes.push_back({.data = data, .pipeline = pipeline, .tensor = tensor});
  }
  return meshes;
}

TEST(MeshCommunicators, AxesJoinTheRanksOfTheMesh) {
  for (const auto& shape : meshes_of(world().size)) {
    MeshCommunicators mesh(shape, session());
    EXPECT_EQ(mesh.rank().value(), world().rank);
    for (const sim::MeshAxis axis : kAxes) {
      std::int64_t expected = 0;
      const auto stage = shape.coordinate(mesh.rank()).stage.value();
      const bool alone = axis == sim::MeshAxis::Embedding && stage != 0 && stage != shape.pipeline - 1;
      for (const sim::Rank member : shape.group(mesh.rank(), axis)) expected |= std::int64_t{1} << member.value();
      if (alone) expected = std::int64_t{1} << mesh.rank().value();
      EXPECT_EQ(joined(mesh, axis), expected) << static_cast<int>(axis) << " of " << shape.data << shape.pipeline << shape.tensor;
    }
  }
}

TEST(MeshCommunicators, PipelineTransfersNameRanksOfTheMesh) {
  const sim::DeviceMesh shape{.data = 1, .pipeline = world().size, .tensor = 1};
  MeshCommunicators mesh(shape, session());
  const at::Tensor token = at::full({1}, world().rank, at::kLong);
  const std::int32_t rank = world().rank, size = world().size;
  if (rank > 0) mesh.of(sim::MeshAxis::Pipeline).receive(token, rank - 1, key(rank, sim::Operation::Receive, sim::Phase::Forward))->wait();
  EXPECT_EQ(token.item<std::int64_t>(), rank > 0 ? rank - 1 : rank);
  token.fill_(rank);
  if (rank + 1 < size) mesh.of(sim::MeshAxis::Pipeline).send(token, rank + 1, key(rank, sim::Operation::Send, sim::Phase::Forward))->wait();
}

TEST(MeshCommunicators, OneLedgerForAllAxes) {
  if (world().size != 4) GTEST_SKIP() << "needs four ranks";
  MeshCommunicators mesh({.data = 2, .pipeline = 1, .tensor = 2}, session());
  joined(mesh, sim::MeshAxis::Tensor);
  joined(mesh, sim::MeshAxis::Data);
  joined(mesh, sim::MeshAxis::World);
  const Ledger ledger = mesh.take_ledger();
  ASSERT_EQ(ledger.size(), 3U);
  EXPECT_EQ(ledger[0].group_size, 2);
  EXPECT_EQ(ledger[2].group_size, 4);
  EXPECT_TRUE(mesh.take_ledger().empty());
}

TEST(MeshCommunicators, RefusesAnotherNumberOfRanks) {
  EXPECT_THROW(MeshCommunicators({.data = world().size + 1, .pipeline = 1, .tensor = 1}, session()), sim::InputError);
  EXPECT_THROW(MeshCommunicators({.data = 2, .pipeline = 1, .tensor = 1}, nullptr), sim::InputError);
}

TEST(MeshCommunicators, ATaskWithoutAGroupDoesNotCommunicate) {
  MeshCommunicators mesh({.data = world().size, .pipeline = 1, .tensor = 1}, session());
  EXPECT_THROW(mesh.of(sim::MeshAxis::None), std::invalid_argument);
}

}  // namespace
}  // namespace executor
