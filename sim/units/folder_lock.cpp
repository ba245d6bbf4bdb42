#include "sim/units/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "sim/units/input_error.h"

namespace sim {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The kernel tells of an open file who locked it, and of whom it was inherited.
bool holds_lock(const fs::path& process, const struct stat& folder) {
  std::error_code error;
  for (fs::directory_iterator open(process / "fd", error), end; !error && open != end; open.increment(error)) {
    struct stat found {};
    if (::stat(open->path().c_str(), &found) != 0 || found.st_dev != folder.st_dev || found.st_ino != folder.st_ino) continue;
    std::ifstream file(process / "fdinfo" / open->path().filename());
    const std::string told{std::istreambuf_iterator<char>(file), {}};
    if (told.find("FLOCK") != std::string::npos) return true;
  }
  return false;
}

std::vector<std::string> holders(const std::string& folder) {
  struct stat place {};
  std::vector<std::string> found;
  if (::stat(folder.c_str(), &place) != 0) return found;
  std::error_code error;
  for (fs::directory_iterator process("/proc", error), end; !error && process != end; process.increment(error)) {
    const std::string id = process->path().filename();
    if (id.find_first_not_of("0123456789") == std::string::npos && holds_lock(process->path(), place)) found.push_back(id);
  }
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) { return std::stol(a) < std::stol(b); });
  return found;
}

Violation in_use(const std::string& folder) {
  const std::vector<std::string> processes = holders(folder);
  std::vector<std::string> named;
  for (const std::string& id : processes) named.push_back(fmt::format("{} (process {})", first_line("/proc/" + id + "/comm"), id));
  constexpr const char* kProblem = "is being written by a run that has not ended";
  if (processes.empty())
    return {"", fmt::format("{}, of another machine or another user", kProblem), "wait for it or end it, or name another folder"};
  return {"", fmt::format("{}: {}", kProblem, fmt::join(named, ", ")),
          fmt::format("wait for it, or end it:  kill {}; or name another folder", fmt::join(processes, " "))};
}

}  // namespace

// Not closed on exec: the lock is of the open folder, which the children share.
FolderLock::FolderLock(const std::string& folder) : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY)) {
  if (folder_ < 0 || ::flock(folder_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(folder_);
  throw InputError(folder, {in_use(folder)});
}

FolderLock::~FolderLock() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace sim
