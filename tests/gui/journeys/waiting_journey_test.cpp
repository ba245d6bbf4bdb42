// Whatever takes long has a name, says how far it is and how long it still takes, and ends at Esc.
#include <QStatusBar>

#include "gui/pages/answers_page.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/trace_page.h"
#include "gui/views/timeline_view.h"
#include "tests/cli/simulated_run.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/import/snapshots.h"
#include "tests/gui/import/traces.h"
#include "tests/gui/journeys/journey.h"
#include "tests/gui/traced_plan.h"
#include "tests/sim/timeline/timelines.h"

namespace gui::test {
namespace {

class WaitingJourney : public Journey {
 protected:
  QStringList done() {
    QStringList found;
    for (const BackgroundJob* job : window_.findChildren<BackgroundJob*>())
      if (job->isRunning() && !job->doing().isEmpty()) found << job->doing();
    return found;
  }
  // Begun, it is named at once; the name is what the status bar shows from the first tenth of a second on.
  void expectNamed(const char* words) {
    EXPECT_THAT(done().join('|').toStdString(), testing::HasSubstr(words));
    waitForAll();
  }
  sim::testing::TemporaryFolder folder_;
};

TEST_F(WaitingJourney, EverythingLongHasAName) {
  const QString run = QString::fromStdString(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_waiting", {.factor = 1.5}));
  const QString out = QString::fromStdString(folder_.path());
  planGpt2();
  window_.plan();
  expectNamed("Planning");
  window_.open(run);
  expectNamed("Opening simulated_run_gui_waiting");
  window_.exports()->timeline(out + "/t.perfetto-trace");
  expectNamed("Writing t.perfetto-trace");
  window_.exports()->memory(out + "/m.pickle");
  expectNamed("Writing m.pickle");
  window_.exports()->bundle(out + "/b.zip");
  expectNamed("Writing b.zip");
  window_.open(out + "/b.zip");
  expectNamed("Unpacking b.zip");
  window_.open(out + "/m.pickle");
  expectNamed("Opening m.pickle");
  Q_EMIT window_.comparePage()->calibrationWanted(window_.session()->run());
  expectNamed("Calibrating by ");
  window_.answersPage()->ask(1);
  expectNamed("Simulating");
}

TEST_F(WaitingJourney, ATraceIsOpenedAndComparedUnderItsName) {
  window_.session()->show(examplePlan(), Session::Origin::Chosen);
  waitForPlan();
  sim::testing::put(folder_.file("rank0.json"), kinetoOf(traceOf(*window_.session()->plan(), sim::Rank(0), 3)));
  window_.open(QString::fromStdString(folder_.file("rank0.json")));
  expectNamed("Opening rank0.json");
  Q_EMIT window_.tracePage()->compareButton()->click();
  expectNamed("Comparing rank0.json with the plan");
  EXPECT_NE(window_.comparePage()->comparison(), nullptr);
}

// A trace of 40 MB is opened: the bar says how far it is; Esc ends it, nothing is told as an error, and it opens afterwards.
TEST_F(WaitingJourney, EscEndsWhatIsOpened) {
  std::string events;
  for (int at = 0; at < 400000; ++at) events += (at > 0 ? ",\n" : "") + slice("kernel", fmt::format(R"("ts": {}, "dur": 2)", 3 * at), "");
  sim::testing::put(folder_.file("large.json"), document(events));
  QStringList said;
  QObject::connect(window_.statusBar(), &QStatusBar::messageChanged, [&](const QString& words) { said << words; });
  window_.open(QString::fromStdString(folder_.file("large.json")));
  QTest::keyClick(&window_, Qt::Key_Escape);
  waitForAll();
  EXPECT_EQ(window_.tracePage()->view()->core().numSlices(), 0);
  EXPECT_TRUE(window_.message()->isHidden()) << window_.message()->text().toStdString();
  EXPECT_EQ(window_.statusBar()->currentMessage(), "Cancelled.");
  window_.open(QString::fromStdString(folder_.file("large.json")));
  waitForAll();
  EXPECT_EQ(window_.tracePage()->view()->core().numSlices(), 400000);
  EXPECT_THAT(said.join('|').toStdString(), testing::ContainsRegex("Opening large.json.*Esc cancels"));
}

// What would take an hour: the search says how long, in the bar, and Esc keeps what it has found.
TEST_F(WaitingJourney, ASearchSaysHowLongItTakesAndEscEndsIt) {
  planGpt3(window_);
  const bool told = QTest::qWaitFor(
      [this] { return window_.statusBar()->currentMessage().contains(" left (Esc cancels)") || !window_.session()->isSearching(); }, 60000);
  EXPECT_TRUE(told);
  QTest::keyClick(&window_, Qt::Key_Escape);
  EXPECT_TRUE(QTest::qWaitFor([this] { return !window_.session()->isSearching(); }, 60000));
}

}  // namespace
}  // namespace gui::test
