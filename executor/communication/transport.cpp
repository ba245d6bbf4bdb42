#include "executor/communication/transport.h"

#include <array>
#include <cstdlib>
#include <set>
#include <utility>

#include "executor/communication/nccl_communicator.h"
#include "executor/communication/nccl_transfers.h"

#if MESHWRIGHT_MPI
#include "executor/communication/mpi_communicator.h"
#include "executor/communication/staged_communicator.h"
#include "sim/units/at.h"
#endif

namespace executor {

std::unique_ptr<Communicator> Transport::make_transfers(const sim::DeviceMesh& mesh, Ledger* ledger) const {
  if (nccl) return std::make_unique<NcclTransfers>(nccl, mesh, ledger);
  return make(mesh.group(sim::Rank(place().rank), sim::MeshAxis::World), "pipeline", ledger);
}

#if MESHWRIGHT_MPI

namespace {

NcclPlace place_in_mpi() {
  NcclPlace place;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &place.size), "MPI_Comm_size");
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &place.rank), "MPI_Comm_rank");
  return place;
}

}  // namespace

NcclPlace Transport::place() const {
  if (nccl) return nccl->settings().place;
  return mpi ? place_in_mpi() : NcclPlace{};
}

std::unique_ptr<Communicator> Transport::make(const std::vector<sim::Rank>& members, const std::string& name, Ledger* ledger) const {
  if (nccl) return std::make_unique<NcclCommunicator>(nccl, members, name, ledger);
  return std::make_unique<StagedCommunicator>(std::make_unique<MpiCommunicator>(mpi, members, name, ledger));
}

WaitsReported::WaitsReported(std::shared_ptr<MpiSession> mpi, Heartbeat& heartbeat) : mpi_(std::move(mpi)) {
  if (mpi_) mpi_->report_waits_to(&heartbeat);
}
WaitsReported::~WaitsReported() {
  if (mpi_) mpi_->report_waits_to(nullptr);
}

std::shared_ptr<MpiSession> start_mpi(const CommunicationOptions& options) { return MpiSession::start(options); }
bool has_mpi() { return true; }

void end_job(MpiSession* mpi, int exit_code, std::string_view reason) {
  if (mpi != nullptr) mpi->end_job(exit_code, reason);
  std::_Exit(exit_code);
}

StoreAddress spread_by_mpi(StoreAddress address) {
  std::array<char, 256> host{};
  address.host.copy(host.data(), host.size() - 1);
  check_mpi(MPI_Bcast(host.data(), static_cast<int>(host.size()), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
  check_mpi(MPI_Bcast(&address.port, 1, MPI_UINT16_T, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return {.host = host.data(), .port = address.port};
}

bool do_two_say_the_same(const std::string& word) {
  constexpr std::size_t kLetters = 64;
  std::array<char, kLetters> mine{};
  word.copy(mine.data(), mine.size() - 1);
  const auto place = place_in_mpi();
  std::vector<char> all(kLetters * sim::count_of(place.size));
  check_mpi(MPI_Allgather(mine.data(), kLetters, MPI_CHAR, all.data(), kLetters, MPI_CHAR, MPI_COMM_WORLD), "MPI_Allgather");
  std::set<std::string> said;
  for (std::size_t at = 0; at < all.size(); at += kLetters) {
    const std::string theirs = all.data() + at;
    if (!theirs.empty() && !said.insert(theirs).second) return true;
  }
  return false;
}

#else

NcclPlace Transport::place() const { return nccl ? nccl->settings().place : NcclPlace{}; }

std::unique_ptr<Communicator> Transport::make(const std::vector<sim::Rank>& members, const std::string& name, Ledger* ledger) const {
  if (nccl) return std::make_unique<NcclCommunicator>(nccl, members, name, ledger);
  throw CollectiveError(name + " group: this build has no MPI, and there is no NCCL between these ranks");
}

WaitsReported::WaitsReported(std::shared_ptr<MpiSession> mpi, Heartbeat&) : mpi_(std::move(mpi)) {}
WaitsReported::~WaitsReported() = default;
std::shared_ptr<MpiSession> start_mpi(const CommunicationOptions&) { return nullptr; }
bool has_mpi() { return false; }
void end_job(MpiSession*, int exit_code, std::string_view) { std::_Exit(exit_code); }
StoreAddress spread_by_mpi(StoreAddress address) { return address; }
bool do_two_say_the_same(const std::string&) { return false; }

#endif

}  // namespace executor
