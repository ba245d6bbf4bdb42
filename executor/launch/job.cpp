#include "executor/launch/job.h"

#include <unistd.h>

#include <array>
#include <utility>

namespace executor {
namespace {

StoreAddress own_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return {.host = name.data(), .port = 0};
}

// Rank 0 serves; the others learn its address from MPI, or from torchrun's variables.
OpenStore store_of_job(const RankEnvironment& place, bool has_mpi) {
  if (!has_mpi) return open_store(store_address_of_environment(), place.rank);
  if (place.rank != sim::Rank(0)) return open_store(spread_by_mpi({}), place.rank);
  OpenStore store = open_store(own_host(), place.rank);
  spread_by_mpi(store.address);
  return store;
}

}  // namespace

Transport join_job(const DeviceChoice& choice, const RankEnvironment& place, std::shared_ptr<MpiSession> mpi,
                   const CommunicationOptions& options) {
  if (choice.joint != Joint::Nccl) return {choice.joint == Joint::Alone ? nullptr : std::move(mpi)};
  const OpenStore store = store_of_job(place, mpi != nullptr);
  NcclSession::Settings settings{.library = nccl_library(),
                                 .device = choice.device,
                                 .rendezvous = store.rendezvous,
                                 .place = {.rank = place.rank.value(), .size = place.size},
                                 .options = options};
  return {std::move(mpi), std::make_shared<NcclSession>(std::move(settings))};
}

}  // namespace executor
