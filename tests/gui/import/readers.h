// Every reader of a file that the window opens, as fuzz targets: a name, a small file of that kind, and the reader. Whatever the bytes, a
// reader returns or throws sim::InputError. Used by readers_test (mutations in a fixed order) and readers_fuzzer (libFuzzer).
#pragma once

#include <span>
#include <string>

namespace gui::test {

struct Reader {
  const char* name;
  std::string (*example)();  // the bytes of a file that it reads
  void (*read)(const std::string& path);
};
std::span<const Reader> allReaders();

// Writes the bytes where the reader finds them and lets it read; what it throws besides sim::InputError passes through.
void readBytes(const Reader& reader, const std::string& bytes);

}  // namespace gui::test
