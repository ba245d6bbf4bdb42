#include "sim/units/text_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "sim/units/input_error.h"

namespace sim {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class TextFile : public testing::Test {
 protected:
  TextFile() : folder_(fs::path(testing::TempDir()) / ("text_file_" + std::to_string(::getpid()))) { fs::create_directories(folder_); }
  ~TextFile() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())); }

  fs::path folder_;
};

// Writes beyond it fail as on a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_limit_{};
  void (*old_handler_)(int);
};

TEST_F(TextFile, ReadsWhatWasWritten) {
  const std::string text = std::string("a\0b\n", 4) + std::string(300'000, 'x');
  save_text_file(text, path("a"));
  EXPECT_EQ(load_text_file(path("a")), text);
  save_text_file("", path("a"));
  EXPECT_EQ(load_text_file(path("a")), "");
  EXPECT_EQ(files(), 1u) << "nothing is left aside";
}

TEST_F(TextFile, AFullDiskLeavesTheOldFile) {
  save_text_file("old", path("a"));
  {
    const SmallDisk disk(4096);
    EXPECT_THAT([&] { save_text_file(std::string(1 << 20, 'x'), path("a")); },
                ThrowsMessage<InputError>(AllOf(HasSubstr(path("a")), HasSubstr("File too large"), HasSubstr("free some space"))));
  }
  EXPECT_EQ(load_text_file(path("a")), "old");
  EXPECT_EQ(files(), 1u) << "nothing is left aside";
}

TEST_F(TextFile, NamesTheDisksReason) {
  EXPECT_THAT([] { save_text_file("x", "/dev/full"); }, ThrowsMessage<InputError>(HasSubstr("No space left on device")));
  EXPECT_TRUE(fs::is_character_file("/dev/full")) << "a device is written, never replaced";
  EXPECT_THAT([&] { save_text_file("x", path("no/such/folder")); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("No such file or directory"), HasSubstr("create its folder"))));
  EXPECT_THAT([&] { save_text_file("x", folder_.string()); }, ThrowsMessage<InputError>(HasSubstr("Is a directory")));
}

TEST_F(TextFile, SaysBeforehandWhatCannotBeWritten) {
  EXPECT_THROW(require_writable("/no/such/folder/x"), InputError);
  EXPECT_NO_THROW(require_writable("/dev/null"));
  save_text_file("old", path("x"));
  require_writable(path("x"));
  EXPECT_EQ(load_text_file(path("x")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(TextFile, KeepsALinkAndReplacesItsTarget) {
  save_text_file("old", path("target"));
  fs::create_symlink(path("target"), path("link"));
  save_text_file("new", path("link"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(load_text_file(path("target")), "new");
}

TEST_F(TextFile, RefusesWhatCannotBeRead) {
  EXPECT_THAT([&] { load_text_file(path("none")); }, ThrowsMessage<InputError>(HasSubstr("No such file or directory")));
  EXPECT_THAT([&] { load_text_file(folder_.string()); }, ThrowsMessage<InputError>(HasSubstr("Is a directory")));
}

TEST_F(TextFile, OfAnEditorIsReadWithoutItsMark) {
  std::ofstream(path("marked")) << "\xEF\xBB\xBFtext";
  EXPECT_EQ(load_edited_text_file(path("marked")), "text");
  EXPECT_EQ(load_text_file(path("marked")).size(), 7u);
}

TEST_F(TextFile, RefusesAHugeFileBeforeReadingIt) {
  std::ofstream(path("huge")) << "{";
  fs::resize_file(path("huge"), static_cast<std::uintmax_t>(kLargestTextFile.value()) + 1);  // sparse: takes no room
  EXPECT_THAT([&] { load_text_file(path("huge")); }, ThrowsMessage<InputError>(HasSubstr("larger than 1.00 GiB")));
}

}  // namespace
}  // namespace sim
