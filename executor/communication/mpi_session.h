// MPI for the life of the process: initialised once, and the one place that waits. While any operation is waited for, every operation under
// way moves on, so ranks may wait for theirs in different orders. One thread owns it.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/communication/communicator.h"
#include "executor/communication/heartbeat.h"
#include "executor/communication/mpi_watch.h"
#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace executor {

class MpiOperation;

// How a wait polls: without rest at first, then with rests that double.
struct PollingPace {
  std::chrono::microseconds spin{}, longest_rest{};
};

class MpiSession {
 public:
  // Collective over all ranks of the job. nullptr where the process was not started by mpirun (or srun with PMIx): a solo run needs no MPI.
  // Throws CollectiveError if MPI refuses. Later sessions of a process share its MPI, and fail by themselves.
  static std::shared_ptr<MpiSession> start(const CommunicationOptions& options);
  static std::shared_ptr<MpiSession> start() { return start(CommunicationOptions()); }
  ~MpiSession();  // the first one finalises MPI, unless an operation failed: then nobody would come
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  void report_waits_to(Heartbeat* heartbeat) { heartbeat_ = heartbeat; }  // those that last; null: to nobody

  const CommunicationOptions& options() const { return options_; }
  // Ends every rank of the job, once each has written why it ends (two seconds for those that compute). The exit code is that of the rank that
  // ended first.
  [[noreturn]] void end_job(int exit_code, std::string_view reason);
  [[noreturn]] static void abort(int exit_code);  // at once

 private:
  friend class MpiOperation;
  MpiSession(const CommunicationOptions& options, bool is_first);
  void wait_for(MpiOperation& operation);
  void look_at(MpiOperation& operation);  // moves it alone on
  template <class Act>
  void keep_failure(Act act);
  void advance_all();
  void enter(MpiOperation& operation) { active_.push_back(&operation); }
  void leave(MpiOperation& operation);

  CommunicationOptions options_;
  bool is_first_;
  PollingPace pace_;
  std::vector<MpiOperation*> active_;  // in order of their start
  std::string failure_;                // of the first operation that failed; all later ones repeat it
  MpiWatch watch_;
  std::int64_t waits_ = 0;  // so far
  Heartbeat* heartbeat_ = nullptr;
};

// Turns an MPI return code into CollectiveError.
void check_mpi(int code, const char* call);

}  // namespace executor
