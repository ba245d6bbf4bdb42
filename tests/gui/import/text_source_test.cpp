#include "gui/import/text_source.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "sim/units/input_error.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

using sim::testing::put;
using sim::testing::TemporaryFolder;

void pack(const std::string& path, const std::string& content) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
}

TEST(TextSource, PlainAndPackedReadTheSame) {
  const TemporaryFolder folder;
  std::string content(3 << 20, 'x');
  content += "end";
  put(folder.file("a"), content);
  pack(folder.file("b"), content);
  Progress progress;
  for (const char* name : {"a", "b"}) {
    const TextSource source(folder.file(name), progress);
    EXPECT_TRUE(source.text() == content) << name;
    EXPECT_FALSE(source.isCut());
  }
}

TEST(TextSource, APackedFileThatIsCutGivesWhatCameBefore) {
  const TemporaryFolder folder;
  std::string content;
  for (int at = 0; at < 200000; ++at) content += std::to_string(at * 7919);
  pack(folder.file("a"), content);
  std::filesystem::resize_file(folder.file("a"), std::filesystem::file_size(folder.file("a")) / 2);
  Progress progress;
  const TextSource source(folder.file("a"), progress);
  EXPECT_TRUE(source.isCut());
  EXPECT_GT(source.text().size(), 1000u);
  EXPECT_EQ(source.text(), content.substr(0, source.text().size()));
}

TEST(TextSource, AFileThatWasReservedButNotWrittenEndsWhereItWas) {
  const TemporaryFolder folder;
  put(folder.file("a"), std::string(1 << 16, 'x'));
  std::filesystem::resize_file(folder.file("a"), std::uintmax_t{10} << 30);
  Progress progress;
  const TextSource source(folder.file("a"), progress);
  EXPECT_TRUE(source.isCut());
  EXPECT_EQ(source.text().size(), std::size_t{1} << 16);
}

TEST(TextSource, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  put(folder.file("empty"), "");
  put(folder.file("broken.gz"), "\x1f\x8bnothing");
  Progress progress;
  for (const std::string& path : {folder.file("none"), folder.path(), folder.file("empty"), folder.file("broken.gz")})
    EXPECT_THROW(TextSource(path, progress), sim::InputError) << path;
}

TEST(TextSource, CanBeCancelled) {
  const TemporaryFolder folder;
  pack(folder.file("a"), "text");
  Progress progress;
  progress.cancelled = true;
  EXPECT_THROW(TextSource(folder.file("a"), progress), sim::InputError);
}

}  // namespace
}  // namespace gui
