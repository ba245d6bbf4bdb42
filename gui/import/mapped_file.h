// A file mapped into memory that may become shorter while it is read. What is gone reads as zeros from then on and is said; under a plain
// mapping it would end the program (SIGBUS).
#pragma once

#include <cstddef>
#include <string_view>

namespace gui {

struct FileDescriptor {
  int number = -1;
};

class MappedFile {
 public:
  MappedFile() = default;
  // Of an open file, which may be closed afterwards. Empty: there is no address space left, or thousands of files are mapped already.
  MappedFile(FileDescriptor file, std::size_t size);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view text() const { return {data_, size_}; }
  bool isTorn() const;  // a part was gone when somebody read it

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0, guard_ = 0;
};

}  // namespace gui
