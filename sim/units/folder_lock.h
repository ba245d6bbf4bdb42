// One run at a time writes into a run folder. mpirun inherits the lock: it is held as long as ranks may write, whatever becomes of this program.
// Used by run.
#pragma once

#include <string>

namespace cli {

class RunLock {
 public:
  explicit RunLock(const std::string& folder);   // throws sim::InputError: another run holds it. Where folders cannot be locked nothing is.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int folder_;
};

}  // namespace cli
