// How the ranks of this job reach each other: not at all (one rank), over MPI, or by NCCL. Made once by the program; the mesh makes its groups of it.
// The one header that knows whether this build has MPI.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/communication/ledger.h"
#include "executor/communication/nccl_session.h"
#include "sim/plan/device_mesh.h"

namespace executor {

class Heartbeat;
class MpiSession;

struct Transport {
  Transport(std::nullptr_t = nullptr) {}
  Transport(std::shared_ptr<MpiSession> mpi_session, std::shared_ptr<NcclSession> nccl_session = nullptr)
      : mpi(std::move(mpi_session)), nccl(std::move(nccl_session)) {}

  std::shared_ptr<MpiSession> mpi;    // alone: device tensors are staged through the host
  std::shared_ptr<NcclSession> nccl;  // carries all groups, if it is there

  NcclPlace place() const;
  // Collective over all ranks of the job, also those that are no member.
  std::unique_ptr<Communicator> make(const std::vector<sim::Rank>& members, const std::string& name, Ledger* ledger) const;
  std::unique_ptr<Communicator> make_transfers(const sim::DeviceMesh& mesh, Ledger* ledger) const;
};

// While it lives, waits of MPI that last are noted in the heartbeat: which rank waits for which. mpi: null where there is none.
class WaitsReported {
 public:
  WaitsReported(std::shared_ptr<MpiSession> mpi, Heartbeat& heartbeat);
  ~WaitsReported();
  WaitsReported(const WaitsReported&) = delete;
  WaitsReported& operator=(const WaitsReported&) = delete;

 private:
  std::shared_ptr<MpiSession> mpi_;
};

// nullptr: not started by mpirun (or srun with PMIx), or a build without MPI.
std::shared_ptr<MpiSession> start_mpi(const CommunicationOptions& options = {});
bool has_mpi();  // this build
// Ends every rank of the job, if MPI or a launcher that watches joins them. mpi: null where it has not started. The others hear the reason.
[[noreturn]] void end_job(MpiSession* mpi, int exit_code, std::string_view reason);
StoreAddress spread_by_mpi(StoreAddress address);  // rank 0's, to all
// Collective over all ranks that MPI joins: whether any two say the same; up to 63 letters. Empty words are not compared.
bool do_two_say_the_same(const std::string& word);

}  // namespace executor
