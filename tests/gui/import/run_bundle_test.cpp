#include "gui/import/run_bundle.h"

#include <gmock/gmock.h>

#include <random>

#include "sim/units/input_error.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

using sim::testing::content_of;
using sim::testing::put;
using sim::testing::TemporaryFolder;

class Bundle : public testing::Test {
 protected:
  Bundle() {
    std::filesystem::create_directories(folder_.file("run/checkpoints"));
    put(folder_.file("run/plan.json"), "{\"a\": 1}");
    put(folder_.file("run/trace.0.json"), std::string(100000, 'x') + "end");
    put(folder_.file("run/empty"), "");
    put(folder_.file("run/checkpoints/large"), "weights");
    writeBundle(folder_.file("run"), folder_.file("run.zip"), progress_);
  }
  TemporaryFolder folder_;
  Progress progress_;
};

TEST_F(Bundle, ComesBackAsItWasWithoutCheckpoints) {
  unpackBundle(folder_.file("run.zip"), folder_.file("there"));
  for (const char* name : {"plan.json", "trace.0.json", "empty"})
    EXPECT_EQ(content_of(folder_.file(std::string("there/") + name)), content_of(folder_.file(std::string("run/") + name))) << name;
  EXPECT_FALSE(std::filesystem::exists(folder_.file("there/checkpoints")));
  EXPECT_LT(std::filesystem::file_size(folder_.file("run.zip")), 2000u);
}

TEST_F(Bundle, SaysHowFarItIsAndIsCancelled) {
  EXPECT_EQ(progress_.all, 8 + 100003) << "bytes of its files";
  EXPECT_EQ(progress_.share(), 1);
  Progress reading;
  std::vector<double> shares;
  unpackBundle(folder_.file("run.zip"), folder_.file("there"), [&](const sim::HowFar& far) {
    EXPECT_EQ(far.all, 8 + 100003);
    ProgressPart{reading, 0.5, 1}(far);
    shares.push_back(reading.share());
  });
  EXPECT_EQ(shares.size(), 3u) << "told before each file";
  EXPECT_EQ(shares.front(), 0.5) << "the first half is the hash of the file";
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  reading.cancelled = true;
  EXPECT_THROW(unpackBundle(folder_.file("run.zip"), folder_.file("there"), ProgressPart{reading, 0.5, 1}), sim::InputError);
  progress_.cancelled = true;
  EXPECT_THROW(writeBundle(folder_.file("run"), folder_.file("other.zip"), progress_), sim::InputError);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("other.zip")));
}

TEST_F(Bundle, OtherProgramsOpenIt) {
  EXPECT_EQ(std::system(("python3 -m zipfile -t " + folder_.file("run.zip") + " > /dev/null").c_str()), 0);
}

TEST_F(Bundle, ANameThatLeavesTheFolderIsRefused) {
  std::string bytes = content_of(folder_.file("run.zip"));
  for (std::size_t at = bytes.find("plan.json"); at != std::string::npos; at = bytes.find("plan.json", at))
    bytes.replace(at, 9, "../p.json");
  put(folder_.file("evil.zip"), bytes);
  EXPECT_THROW(unpackBundle(folder_.file("evil.zip"), folder_.file("there")), sim::InputError);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("p.json")));
}

TEST_F(Bundle, SurvivesEveryCutAndGarbage) {
  const std::string whole = content_of(folder_.file("run.zip"));
  std::mt19937 random(4);
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = round % 2 == 0 ? whole.substr(0, random() % whole.size()) : whole;
    for (int change = 0; change < 3 && round % 2 == 1; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
    put(folder_.file("broken.zip"), bytes);
    try {
      unpackBundle(folder_.file("broken.zip"), folder_.file("there"));
    } catch (const sim::InputError&) {
    }
  }
}

TEST_F(Bundle, AnEmptyFolderIsRefused) {
  std::filesystem::create_directories(folder_.file("nothing"));
  EXPECT_THROW(writeBundle(folder_.file("nothing"), folder_.file("b.zip"), progress_), sim::InputError);
}

}  // namespace
}  // namespace gui
