#include "gui/import/zip.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

std::string zipOf(const std::vector<std::pair<std::string, std::string>>& files) {
  const sim::testing::TemporaryFolder folder;
  const std::string source = "run";
  sim::OutputFile file(folder.file("z"));
  ZipWriter zip(file, source);
  for (const auto& [name, content] : files) zip.add(name, content);
  zip.finish();
  file.finish();
  return sim::testing::content_of(folder.file("z"));
}

TEST(Zip, GivesBackWhatWasPut) {
  const std::string large(3'000'000, 'x');
  const std::string zip = zipOf({{"a", "one"}, {"b", ""}, {"c", large}});
  const std::vector<ZipEntry> entries = readZip(zip, "z");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(unpacked(entries[0], "z"), "one");
  EXPECT_EQ(unpacked(entries[1], "z"), "");
  EXPECT_EQ(unpacked(entries[2], "z"), large);
  EXPECT_EQ(zip, zipOf({{"a", "one"}, {"b", ""}, {"c", large}})) << "equal files, equal bytes";
}

TEST(Zip, ASumThatDoesNotAgreeIsRefused) {
  std::string zip = zipOf({{"a", "one"}});
  ZipEntry entry = readZip(zip, "z").at(0);
  entry.sum ^= 1;
  EXPECT_THAT([&] { unpacked(entry, "z"); }, testing::ThrowsMessage<sim::InputError>(testing::HasSubstr("does not unpack")));
}

TEST(Zip, MoreFilesThanItsFormatCountsAreRefused) {
  const sim::testing::TemporaryFolder folder;
  const std::string source = "run";
  sim::OutputFile file(folder.file("z"));
  ZipWriter zip(file, source);
  EXPECT_THAT(
      [&] {
        for (int i = 0; i <= 0xffff; ++i) zip.add("a", "");
      },
      testing::ThrowsMessage<sim::InputError>(testing::HasSubstr("65535 files")));
}

}  // namespace
}  // namespace gui
