// A file written in pieces, of any size: aside, then renamed, so that a reader sees the old file or the new one, never half of it.
#pragma once

#include <string>
#include <string_view>

namespace sim {

class OutputFile {
 public:
  // Throws InputError: a folder, a missing one, not permitted. A path that is no regular file (a device, a pipe) is written directly.
  explicit OutputFile(const std::string& path);
  ~OutputFile();  // unfinished: nothing is left of it, an older file is as it was
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Both throw InputError naming the disk's reason.
  void write(std::string_view piece);
  void finish();  // flushed to the disk and renamed

 private:
  void open(const std::string& path, int flags);
  void put(std::string_view text);
  bool is_open() const { return file_ >= 0; }

  std::string asked_, target_, aside_;  // aside_ empty: written directly, or finished
  std::string waiting_;                 // pieces are small, calls to the system are not
  int file_ = -1;
};

}  // namespace sim
