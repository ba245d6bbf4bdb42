// What the tests that run under mpirun share. Every rank runs every test, in the same order.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "executor/communication/mpi_communicator.h"

namespace executor {

struct World {
  std::int32_t rank = 0, size = 1;
  std::vector<sim::Rank> everyone() const {
    std::vector<sim::Rank> ranks;
    for (std::int32_t each = 0; each < size; ++each) ranks.emplace_back(each);
    return ranks;
  }
};
inline World world() {
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  return world;
}

// A session of the test's own: what fails in it stays in it.
inline std::shared_ptr<MpiSession> session(const CommunicationOptions& options = {.time_limit = sim::Seconds(30)}) {
  return MpiSession::start(options);
}
inline MpiCommunicator communicator(Ledger* ledger = nullptr) { return {session(), world().everyone(), "world", ledger}; }

// What `rank` brings: sums of these round, so their order shows in the bits.
inline at::Tensor of_rank(std::int32_t rank, std::int64_t elements, at::ScalarType type = at::kFloat) {
  return (((at::arange(elements, at::kDouble) * 7919 + rank * 104729) % 10007 - 5000) * (type == at::kLong ? 1e12 : 1.7e-3)).to(type);
}
inline at::Tensor serial_sum(std::int32_t ranks, std::int64_t elements, at::ScalarType type) {
  const bool is_short = type == at::kBFloat16 || type == at::kHalf;
  at::Tensor sum = of_rank(0, elements, type).to(is_short ? at::kFloat : type);
  for (std::int32_t rank = 1; rank < ranks; ++rank) sum += of_rank(rank, elements, type).to(sum.scalar_type());
  return sum.to(type);
}

inline sim::TaskKey key(std::int32_t layer, sim::Operation operation = sim::Operation::AllReduce,
                        sim::Phase phase = sim::Phase::Gradients) {
  return {.stage = sim::StageIndex(0),
          .chunk = sim::ChunkIndex(0),
          .microbatch = sim::MicrobatchIndex(0),
          .layer = sim::LayerIndex(layer),
          .phase = phase,
          .operation = operation,
          .group = sim::MeshAxis::Data,
          .sequence = 0};
}

// Every rank performs `operate`, which must end before the session's limit of 30 seconds, however busy the machine is; what it says on this rank.
template <class Operate>
std::string failure_of(const Operate& operate) {
  const auto start = std::chrono::steady_clock::now();
  std::string message;
  try {
    operate();
  } catch (const CollectiveError& error) {
    message = error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  MPI_Barrier(MPI_COMM_WORLD);
  return message;
}

}  // namespace executor
