#include "cli/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "sim/units/input_error.h"

namespace cli {

// Not closed on exec: flock() is of the open folder, which the children share.
RunLock::RunLock(const std::string& folder) : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY)) {
  if (folder_ < 0 || ::flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(folder_);
  throw sim::InputError(folder, {{"", "is being written by a run that has not ended", "wait for it or end it (also when only its mpirun is left), or name another folder"}});
}

RunLock::~RunLock() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace cli
