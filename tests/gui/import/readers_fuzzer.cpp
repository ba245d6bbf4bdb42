// libFuzzer's entry: the reader that MESHWRIGHT_READER names, fed with whatever libFuzzer thinks of. Built by clang++ alone.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/gui/import/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const wanted = std::getenv("MESHWRIGHT_READER");
  for (const gui::test::Reader& reader : gui::test::allReaders())
    if (wanted == nullptr || std::strcmp(reader.name, wanted) == 0) readBytes(reader, {reinterpret_cast<const char*>(data), size});
  return 0;
}
