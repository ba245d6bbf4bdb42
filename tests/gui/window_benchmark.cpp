// How long the window's thread is busy in one go (its CPU time, the longest event of each thing a person does) and how long it takes from
// the start of the program to a window that is drawn. Prints figures; judges nothing.   QT_QPA_PLATFORM=offscreen window_benchmark [run folder]
#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QTabWidget>
#include <QTest>
#include <ctime>

#include "gui/compare_page.h"
#include "gui/knobs_panel.h"
#include "gui/main_window.h"
#include "gui/plan_page.h"
#include "gui/question_panel.h"
#include "gui/table_panel.h"
#include "gui/timeline_page.h"
#include "gui/views/application.h"
#include "gui/views/timeline_view.h"

namespace {

double threadMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

// Sees every event of the window's thread; those sent while another is handled belong to it.
class Watched : public QApplication {
 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override {
    if (depth_ > 0) return QApplication::notify(receiver, event);
    const QByteArray name = receiver->metaObject()->className();
    const int type = event->type();
    const double before = threadMilliseconds();
    ++depth_;
    const bool handled = QApplication::notify(receiver, event);
    --depth_;
    if (const double busy = threadMilliseconds() - before; busy > worst_) {
      worst_ = busy;
      where_ = fmt::format("{}, event {}", name.toStdString(), type);
    }
    return handled;
  }
  void report(const char* what) {
    fmt::print("{:<44} {:6.1f} ms  {}\n", what, worst_, where_);
    all_ = std::max(all_, worst_);
    worst_ = 0;
  }
  double all() const { return all_; }

 private:
  int depth_ = 0;
  double worst_ = 0, all_ = 0;
  std::string where_;
};

void waitForPlan(gui::MainWindow& window) {
  const bool there = QTest::qWaitFor(
      [&] { return window.session()->plan() && sim::plan_hash(window.session()->plan()->plan) == sim::plan_hash(*window.session()->wanted()); }, 120000);
  if (!there) fmt::print("no plan came\n");
  QTest::qWait(300);  // until all is drawn
}

void plan(gui::MainWindow& window, const gui::PlanQuestion& question) {
  window.question()->setQuestion(question);
  window.plan();
  if (!QTest::qWaitFor([&] { return !window.session()->isSearching(); }, 300000)) fmt::print("the search did not end\n");
  waitForPlan(window);
}

void edit(gui::MainWindow& window) {
  gui::Knobs knobs = gui::knobsOf(*window.session()->wanted());
  knobs.recompute = knobs.recompute == sim::Recompute::Full ? sim::Recompute::None : sim::Recompute::Full;
  Q_EMIT window.knobs()->turned(knobs);
  waitForPlan(window);
}

}  // namespace

int main(int argc, char** argv) {
  QElapsedTimer clock;
  clock.start();
  Watched application(argc, argv);
  gui::styleApplication();
  gui::MainWindow window;
  window.resize(1920, 1080);
  window.show();
  window.grab();
  fmt::print("start to a drawn window: {} ms\n", clock.elapsed());
  application.report("the first picture");
  plan(window, {.model = "profiles/models/gpt2-xl.json", .cluster = "a100-80gb-sxm", .devices = 16});
  application.report("GPT-2 XL on 16 devices: planned");
  for (int page = 0; page < window.pages()->count(); ++page) {
    window.pages()->setCurrentIndex(page);
    QTest::qWait(100);
  }
  application.report("every page");
  window.pages()->setCurrentIndex(1);
  edit(window);
  application.report("a turned knob");
  window.timelinePage()->searchLine()->setText("backward");
  QTest::qWait(100);
  application.report("a search");
  window.session()->showEveryRank(true);
  QTest::qWait(3000);
  application.report("every rank by itself");
  window.session()->showEveryRank(false);
  plan(window, {.model = "profiles/models/gpt3-175b.json", .cluster = "dgx-h100-1024", .devices = 1024, .global_batch = 1536, .sequence = 2048});
  application.report("GPT-3 on 1,024 devices: planned");
  edit(window);
  application.report("GPT-3 on 1,024 devices: a turned knob");
  if (argc > 1) {
    window.open(QString::fromLocal8Bit(argv[1]));
    if (!QTest::qWaitFor([&] { return window.comparePage()->comparison() != nullptr; }, 60000)) fmt::print("no run came\n");
    QTest::qWait(300);
    application.report("a run compared");
  }
  fmt::print("window thread busy in one go, at most: {:.1f} ms\n", application.all());
}
