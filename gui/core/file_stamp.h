// Whether a file is still the one that was read.
#pragma once

#include <cstdint>
#include <string>

namespace gui {

struct FileStamp {
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = -1, changed = 0;  // nanoseconds; size -1: there is no file
  bool exists() const { return size >= 0; }
  bool isSameFile(const FileStamp& other) const { return device == other.device && inode == other.inode; }  // whatever it holds by now
  bool operator==(const FileStamp&) const = default;
};
FileStamp stampOf(const std::string& path);

}  // namespace gui
