// libFuzzer's entry: the reader that MESHWRIGHT_READER names, fed with whatever libFuzzer thinks of, beginning with the reader's example.
// Without a name it lists the readers. Built by clang++ (preset fuzz), run by fuzz.sh.   MESHWRIGHT_READER=plan readers_fuzzer folder
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tests/bad_input/readers.h"

namespace {

const bad_input::Reader* wanted() {
  const char* const name = std::getenv("MESHWRIGHT_READER");
  for (const bad_input::Reader& reader : bad_input::all_readers())
    if (name != nullptr && std::strcmp(reader.name, name) == 0) return &reader;
  return nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const bad_input::Reader* const reader = wanted();
  if (reader == nullptr) {
    for (const bad_input::Reader& known : bad_input::all_readers()) std::puts(known.name);
    std::exit(std::getenv("MESHWRIGHT_READER") == nullptr ? 0 : 2);
  }
  if (*argc > 1) std::ofstream(std::string((*argv)[1]) + "/example", std::ios::binary) << reader->example();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bad_input::Reader& reader = *wanted();
  read_bytes(reader, {reinterpret_cast<const char*>(data), size});
  return 0;
}
