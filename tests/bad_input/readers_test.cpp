#include "tests/bad_input/readers.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "sim/units/input_error.h"

namespace bad_input {
namespace {

class Readers : public testing::TestWithParam<Reader> {};

// Bytes turned, cut out, doubled, cut off, and tokens put in: as files come out of full disks and broken transfers.
std::string mutated(std::string bytes, std::mt19937_64& random) {
  static const std::string tokens[] = {
      "-1", "1e999", "18446744073709551616", "null", "[", "}", "\"", "\\u0000", std::string(4, '\0'), "\xff\xfe", std::string(300, '[')};
  const auto below = [&](std::size_t most) { return most == 0 ? 0 : random() % most; };
  for (std::size_t times = 1 + below(4); times > 0; --times) {
    const std::size_t at = below(bytes.size()), length = std::min(below(40), bytes.size() - at);
    switch (below(5)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(random());
        break;
      case 1: bytes.erase(at, length); break;
      case 2: bytes.insert(at, bytes.substr(at, length)); break;
      case 3: bytes.insert(at, tokens[below(std::size(tokens))]); break;
      default: bytes.resize(at);
    }
  }
  return bytes;
}

TEST_P(Readers, ReadsItsExample) {
  const std::string path = testing::TempDir() + GetParam().name + "_example";
  std::ofstream(path, std::ios::binary) << GetParam().example();
  EXPECT_NO_THROW(GetParam().read(path));
}

// What libFuzzer has found to lead somewhere new, and whatever once crashed.
TEST_P(Readers, ReadsOrRefusesTheCorpus) {
  const std::filesystem::path folder = std::string("tests/bad_input/corpus/") + GetParam().name;
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "none is kept yet of " << GetParam().name;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_NO_THROW(read_bytes(GetParam(), bytes_of(entry.path()))) << entry.path();
}

TEST_P(Readers, RefusesEveryPrefixAndMutationInWords) {
  constexpr int kMutations = 150;
  const std::string example = GetParam().example();
  ASSERT_FALSE(example.empty());
  read_bytes(GetParam(), "");
  for (std::size_t length = 0; length < example.size(); length += 1 + example.size() / 40)
    read_bytes(GetParam(), example.substr(0, length));
  std::mt19937_64 random(5489);
  for (int mutation = 0; mutation < kMutations; ++mutation) EXPECT_NO_THROW(read_bytes(GetParam(), mutated(example, random))) << mutation;
}

// Ten gigabytes that begin like the example: refused in words, or read in part; never held in memory. The file is a hole: it takes no disk.
TEST_P(Readers, HoldsNoFileOfTenGigabytes) {
  constexpr std::uintmax_t kSize = std::uintmax_t{10} << 30,
                           kAllowed = std::uintmax_t{14} << 30;  // of address space: the file may be mapped
  const std::string path = testing::TempDir() + GetParam().name + "_large", example = GetParam().example();
  std::ofstream(path, std::ios::binary) << example.substr(0, example.size() - 2);
  std::filesystem::resize_file(path, kSize);
  const auto read = [&] {
    const rlimit most{kAllowed, kAllowed};
    ::setrlimit(RLIMIT_AS, &most);
    try {
      GetParam().read(path);
    } catch (const sim::InputError& error) {
      std::fprintf(stderr, "refused: %s", error.what());
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(read(), testing::ExitedWithCode(0), "");
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(All, Readers, testing::ValuesIn(all_readers().begin(), all_readers().end()),
                         [](const testing::TestParamInfo<Reader>& one) { return one.param.name; });

}  // namespace
}  // namespace bad_input
