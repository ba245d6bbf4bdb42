#include "sim/units/output_file.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace sim {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() : folder_(fs::path(testing::TempDir()) / ("output_file_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }
  std::string path() const { return (folder_ / "a").string(); }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())); }

  fs::path folder_;
};

TEST_F(OutputFileTest, PiecesOfAnySizeStandInTheirOrder) {
  std::string all;
  {
    OutputFile file(path());
    for (const std::size_t size : {3u, 0u, 2'000'000u, 5u, 1'048'575u, 1u, 7u}) {
      const std::string piece(size, static_cast<char>('a' + size % 26));
      file.write(piece);
      all += piece;
    }
    file.finish();
  }
  EXPECT_EQ(load_text_file(path()), all);
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, UnfinishedLeavesTheOldFile) {
  save_text_file("old", path());
  {
    OutputFile file(path());
    file.write(std::string(3'000'000, 'x'));
    EXPECT_EQ(load_text_file(path()), "old");
  }
  EXPECT_EQ(load_text_file(path()), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, SaysAtOnceWhereItCannotBe) {
  EXPECT_THAT([] { OutputFile("/no/such/folder/x"); }, testing::ThrowsMessage<InputError>(testing::HasSubstr("create its folder first")));
  EXPECT_THROW(OutputFile("/"), InputError);
}

TEST_F(OutputFileTest, ADeviceIsWrittenAsItIs) {
  OutputFile file("/dev/null");
  file.write("x");
  file.finish();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace sim
