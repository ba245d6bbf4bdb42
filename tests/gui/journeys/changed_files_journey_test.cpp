#include <fstream>

#include "gui/pages/compare_page.h"
#include "gui/pages/memory_page.h"
#include "gui/pages/run_page.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/trace_page.h"
#include "gui/views/line_view.h"
#include "gui/views/memory_view.h"
#include "gui/views/timeline_view.h"
#include "tests/cli/simulated_run.h"
#include "tests/gui/import/snapshots.h"
#include "tests/gui/import/traces.h"
#include "tests/gui/journeys/journey.h"
#include "tests/sim/timeline/timelines.h"

namespace gui::test {
namespace {

// What happens to a file while it is shown: a job that writes it again, a full disk, somebody who tidies up.
enum class Fate { Cut, Emptied, Written, Replaced, Deleted };
constexpr Fate kFates[] = {Fate::Cut, Fate::Emptied, Fate::Written, Fate::Replaced, Fate::Deleted};

void happen(Fate fate, const std::string& path) {
  const std::uintmax_t size = std::filesystem::file_size(path);
  switch (fate) {
    case Fate::Cut: return std::filesystem::resize_file(path, size / 3);
    case Fate::Emptied: return std::filesystem::resize_file(path, 0);
    case Fate::Written: std::ofstream(path, std::ios::in | std::ios::out) << std::string(static_cast<std::size_t>(size), '{'); return;
    case Fate::Replaced: std::ofstream(path + ".new") << "another"; return std::filesystem::rename(path + ".new", path);
    case Fate::Deleted: std::filesystem::remove(path);
  }
}

std::string longTrace() {
  std::string events;
  for (int at = 0; at < 12000; ++at)
    events += (at > 0 ? ",\n" : "") + slice(fmt::format("kernel{}", at % 7), fmt::format(R"("ts": {}, "dur": 2)", 3 * at),
                                            fmt::format(R"(, "args": {{"External id": {}}})", at));
  return document(events);
}

class ChangedFilesJourney : public Journey {
 protected:
  void isTold() {
    EXPECT_TRUE(QTest::qWaitFor(
        [this] {
          const QString text = window_.message()->text();
          return text.contains("since it was opened") || text.contains("no longer there");
        },
        5000))
        << window_.message()->text().toStdString();
    window_.message()->hide();
  }
  sim::testing::TemporaryFolder folder_;
};

TEST_F(ChangedFilesJourney, ATraceThatChangesWhileItIsShown) {
  TracePage* page = window_.tracePage();
  const std::string path = folder_.file("rank0.json");
  for (const Fate fate : kFates) {
    sim::testing::put(path, longTrace());
    window_.open(QString::fromStdString(path));
    ASSERT_TRUE(QTest::qWaitFor([&] { return page->view()->core().numSlices() == 12000 && !window_.isWorking(); }, 60000));
    happen(fate, path);
    for (const std::uint32_t span : {0u, 5999u, 11999u}) page->view()->select(page->view()->core().find(span));
    const bool is_written_to = fate != Fate::Replaced && fate != Fate::Deleted;
    EXPECT_EQ(page->event()->table().rows.front().front().text.contains("written to"), is_written_to);
    page->searchLine()->setText("kernel3");
    EXPECT_EQ(page->numMatches(), 1714u);
    page->searchLine()->clear();
    window_.grab();
    isTold();
  }
}

// Of two ranks that change at once neither is left unsaid.
TEST_F(ChangedFilesJourney, TwoThatChangeAtOnceAreBothTold) {
  QStringList files;
  for (const char* name : {"rank0.json", "rank1.json"}) {
    sim::testing::put(folder_.file(name), longTrace());
    files << QString::fromStdString(folder_.file(name));
  }
  window_.openAll(files);
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.tracePage()->view()->core().numSlices() == 24000 && !window_.isWorking(); }, 60000));
  happen(Fate::Deleted, folder_.file("rank0.json"));
  happen(Fate::Cut, folder_.file("rank1.json"));
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.message()->isVisible(); }, 60000));
  const std::string told = window_.message()->text().toStdString();
  EXPECT_THAT(told, testing::AllOf(testing::HasSubstr("rank0.json is no longer there"), testing::HasSubstr("rank1.json was written to")));
}

TEST_F(ChangedFilesJourney, ASnapshotThatChangesWhileItIsShown) {
  const std::string path = folder_.file("snapshot.pickle");
  for (const Fate fate : kFates) {
    sim::testing::put(path, smallSnapshot());
    window_.open(QString::fromStdString(path));
    waitForAll();
    ASSERT_EQ(window_.pages()->currentWidget(), window_.memoryPage());
    happen(fate, path);
    window_.memoryPage()->view()->chooseMoment(sim::SimTime(1));
    window_.grab();
    isTold();
  }
  EXPECT_FALSE(window_.memoryPage()->alive()->table().rows.empty());
}

TEST_F(ChangedFilesJourney, ARunThatChangesWhileItIsCompared) {
  for (const Fate fate : kFates) {
    const std::string run = cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_changed_run");
    window_.open(QString::fromStdString(run));
    ASSERT_TRUE(QTest::qWaitFor([&] { return window_.session()->run() != nullptr && !window_.isWorking(); }, 60000));
    happen(fate, run + "/trace.0.json");
    window_.grab();
    isTold();
  }
  EXPECT_FALSE(window_.comparePage()->errors()->table().rows.empty());
}

// What a run has told stays while its file is gone; another run in its place begins anew.
TEST_F(ChangedFilesJourney, ARunThatChangesWhileItIsFollowed) {
  RunPage* page = window_.runPage();
  const std::string metrics = folder_.file("metrics.ndjson");
  const auto line = [](int step) { return fmt::format("{{\"step\": {}, \"loss\": 2, \"tokens_per_second\": 9}}\n", step); };
  sim::testing::put(metrics, line(1) + line(2) + line(3));
  page->follow(QString::fromStdString(folder_.path()));
  EXPECT_EQ(page->loss()->numPoints(), 3u);
  std::filesystem::remove(metrics);
  QTest::qWait(700);
  EXPECT_EQ(page->loss()->numPoints(), 3u);
  sim::testing::put(metrics, line(1));
  EXPECT_TRUE(QTest::qWaitFor([&] { return page->loss()->numPoints() == 1; }, 60000));
}

}  // namespace
}  // namespace gui::test
