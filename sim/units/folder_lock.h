// One run at a time writes into a run folder: an flock() of the folder, held as long as a process that has it open lives. Taken by `meshwright run`, whose
// mpirun inherits it, and by rank 0 where a scheduler's script started the ranks.
#pragma once

#include <string>

namespace sim {

class FolderLock {
 public:
  // Throws InputError naming the processes of this machine that hold it. Where folders cannot be locked nothing is.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_;
};

}  // namespace sim
