// Many plans in one job: each test performs plans on all ranks of the mpirun that started it, and compares what came out. Ranks run the same
// tests in the same order; a test that another number of ranks needs is skipped.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>

#include "executor/communication/mpi_session.h"

namespace parity {

std::shared_ptr<executor::MpiSession> session();  // null when not under mpirun
int num_ranks();
c10::Device device();  // what ranks that talk to each other compute on: --device; a process alone is a CPU's

// A folder that all ranks of the job share, and that goes away with the test.
class ScratchOfJob {
 public:
  ScratchOfJob();
  ~ScratchOfJob();
  ScratchOfJob(const ScratchOfJob&) = delete;
  ScratchOfJob& operator=(const ScratchOfJob&) = delete;
  std::string folder(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace parity
