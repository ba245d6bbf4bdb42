// Every reader of a file as a fuzz target: a name, a small file of that kind, and the reader. Whatever the bytes, a reader returns or throws
// sim::InputError.
#pragma once

#include <span>
#include <string>

namespace bad_input {

struct Reader {
  const char* name;
  std::string (*example)();  // the bytes of a file that it reads
  void (*read)(const std::string& path);
};
// Those of the program, or those of the window: each has its own table, and both tests and fuzzer are linked with one.
std::span<const Reader> all_readers();

// Writes the bytes where the reader finds them and lets it read; what it throws besides sim::InputError passes through.
void read_bytes(const Reader& reader, const std::string& bytes);

const std::string& scratch();  // a folder of this process
std::string bytes_of(const std::string& path);
std::string written(void (*write)(const std::string& path));  // the bytes of what it writes

}  // namespace bad_input
