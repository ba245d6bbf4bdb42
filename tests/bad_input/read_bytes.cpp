#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/units/input_error.h"
#include "tests/bad_input/readers.h"

namespace bad_input {

const std::string& scratch() {
  static const std::string folder = [] {
    const std::string name = std::filesystem::temp_directory_path().string() + "/meshwright_readers_" + std::to_string(::getpid());
    std::filesystem::create_directories(name);
    return name;
  }();
  return folder;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string written(void (*write)(const std::string& path)) {
  const std::string path = scratch() + "/example";
  write(path);
  return bytes_of(path);
}

void read_bytes(const Reader& reader, const std::string& bytes) {
  const std::string path = scratch() + "/input";
  std::filesystem::remove(path);  // a new file: overwriting one would wait for the disk
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  try {
    reader.read(path);
  } catch (const sim::InputError&) {
  }
}

}  // namespace bad_input
