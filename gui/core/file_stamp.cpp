#include "gui/core/file_stamp.h"

#include <sys/stat.h>

namespace gui {

FileStamp stampOf(const std::string& path) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino), status.st_size,
          status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
}

}  // namespace gui
