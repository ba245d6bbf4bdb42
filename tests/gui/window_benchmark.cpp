// How long the window's thread is busy in one go (its CPU time, the longest event of each thing a person does) and how long it takes from
// the start of the program to a window that is drawn. Prints figures; judges nothing.   QT_QPA_PLATFORM=offscreen window_benchmark [file or run folder...]
#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QListWidget>
#include <QTabWidget>
#include <QTest>
#include <ctime>

#include "gui/main_window.h"
#include "gui/pages/answers_page.h"
#include "gui/pages/knobs_panel.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
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

// As a hand on the mouse or the keyboard: an event.
template <class Act>
void act(gui::MainWindow& window, Act&& what) {
  QMetaObject::invokeMethod(&window, what, Qt::QueuedConnection);
  QTest::qWait(1);
}

void waitForPlan(gui::MainWindow& window) {
  const bool there = QTest::qWaitFor(
      [&] {
        return window.session()->plan() && sim::plan_hash(window.session()->plan()->plan) == sim::plan_hash(*window.session()->wanted());
      },
      120000);
  if (!there) fmt::print("no plan came\n");
  QTest::qWait(300);  // until all is drawn
}

void plan(gui::MainWindow& window, const gui::PlanQuestion& question) {
  window.question()->setQuestion(question);
  act(window, [&] { window.plan(); });
  if (!QTest::qWaitFor([&] { return !window.session()->isSearching(); }, 300000)) fmt::print("the search did not end\n");
  waitForPlan(window);
}

// Until the timeline of the turned plan is drawn.
void edit(gui::MainWindow& window, const char* what) {
  const sim::ParallelPlan& before = *window.session()->wanted();
  const std::string recompute = before.recompute == sim::Recompute::Full ? "none" : "full";
  QElapsedTimer clock;
  qint64 seen = -1;
  const auto link = QObject::connect(window.session(), &gui::Session::planReady, [&] {
    window.timelinePage()->view()->repaint();
    seen = clock.elapsed();
  });
  clock.start();
  act(window, [&] { Q_EMIT window.knobs()->edited(gui::turned(before, {"recompute", recompute})); });
  waitForPlan(window);
  QObject::disconnect(link);
  fmt::print("{}: seen after {} ms\n", what, seen);
}

// Unfolded, beside what stays there to be used: until the ranks stand one by one.
void unfold(gui::MainWindow& window, const char* what) {
  QElapsedTimer clock;
  clock.start();
  act(window, [&] { window.session()->showEveryRank(true); });
  const auto ranks = static_cast<std::size_t>(window.session()->wanted()->mesh.ranks());
  const bool there = QTest::qWaitFor([&] { return window.session()->plan()->shown().devices.devices().size() == ranks; }, 600000);
  fmt::print("{}: {} ms, {} ranks, {} tasks\n", there ? what : "no ranks came", clock.elapsed(), ranks,
             window.session()->plan()->shown().devices.numSpans());
  QTest::qWait(300);
}

void everyPage(gui::MainWindow& window) {
  for (int page = 0; page < window.pages()->count(); ++page) {
    act(window, [&] { window.pages()->setCurrentIndex(page); });
    QTest::qWait(100);
  }
  window.pages()->setCurrentWidget(window.timelinePage());
}

void search(gui::MainWindow& window) {
  for (const char* pattern : {"b", "back", "backward.*l3", ""}) {
    act(window, [&] { window.timelinePage()->searchLine()->setText(QString::fromLatin1(pattern)); });
    if (!QTest::qWaitFor([&] { return !window.isWorking(); }, 60000)) fmt::print("nothing was found\n");
    QTest::qWait(100);
  }
}

void ask(gui::MainWindow& window) {
  window.pages()->setCurrentWidget(window.answersPage());
  for (int question = 0; question < window.answersPage()->questions()->count(); ++question) {
    act(window, [&] { window.answersPage()->questions()->setCurrentRow(question); });
    if (!QTest::qWaitFor([&] { return !window.answersPage()->isAsking(); }, 60000)) fmt::print("no answer came\n");
  }
}

// A run folder, traces, a snapshot.
void openFiles(gui::MainWindow& window, const QStringList& paths) {
  for (const QString& path : paths) {
    act(window, [&] { window.open(path); });
    if (!QTest::qWaitFor([&] { return !window.isWorking(); }, 60000)) fmt::print("{} was not opened\n", path.toStdString());
    QTest::qWait(300);
  }
}

// Zoomed in and out: processor time of a picture.
double slowestFrame(gui::TimelineView& view) {
  std::vector<double> frames;
  for (int frame = 0; frame < 100; ++frame) {
    QTest::keyClick(&view, frame % 20 < 10 ? Qt::Key_W : Qt::Key_S);
    const double before = threadMilliseconds();
    view.repaint();
    frames.push_back(threadMilliseconds() - before);
  }
  std::sort(frames.begin(), frames.end());
  return frames[98];
}

// A line a rank, each by itself; then a line a group, in which its ranks are mixed.
void denseFrames(gui::MainWindow& window) {
  gui::TimelinePage* page = window.timelinePage();
  window.pages()->setCurrentWidget(page);
  page->setDense(true);
  for (const bool in_groups : {false, true}) {
    page->collapse(in_groups);
    fmt::print("a line a {}, {} ranks in {} lines, {} x {}: p99 {:.1f} ms\n", in_groups ? "group" : "rank",
               window.session()->plan()->shown().devices.devices().size(), page->view()->lineNames().size(), page->view()->width(),
               page->view()->height(), slowestFrame(*page->view()));
  }
  page->collapse(false);
  page->setDense(false);
}

void journeys(gui::MainWindow& window, Watched& application, const QStringList& files) {
  const auto go = [&](const char* what, auto&& journey) {
    journey();
    application.report(what);
  };
  go("GPT-2 XL on 16 devices: planned",
     [&] { plan(window, {.model = "profiles/models/gpt2-xl.json", .cluster = "a100-80gb-sxm", .devices = 16}); });
  go("every page", [&] { everyPage(window); });
  go("a turned knob", [&] { edit(window, "GPT-2 XL, a turned knob"); });
  go("every question", [&] { ask(window); });
  go("16 ranks one by one", [&] { unfold(window, "16 ranks"); });
  window.session()->showEveryRank(false);
  go("GPT-3 on 1,024 devices: planned", [&] {
    plan(window,
         {.model = "profiles/models/gpt3-175b.json", .cluster = "dgx-h100-1024", .devices = 1024, .global_batch = 1536, .sequence = 2048});
  });
  go("GPT-3: every page", [&] { everyPage(window); });
  go("GPT-3: a turned knob", [&] { edit(window, "GPT-3, a turned knob"); });
  go("GPT-3: a search", [&] { search(window); });
  go("GPT-3: 1,024 ranks one by one", [&] { unfold(window, "every rank by itself"); });
  go("GPT-3, unfolded: a line a rank", [&] { denseFrames(window); });
  go("GPT-3, unfolded: a turned knob", [&] { edit(window, "GPT-3, a turned knob, every rank by itself"); });
  go("GPT-3, unfolded: every page", [&] { everyPage(window); });
  go("GPT-3, unfolded: a search", [&] { search(window); });
  window.session()->showEveryRank(false);
  go("GPT-3: folded again", [&] { waitForPlan(window); });
  go("files opened", [&] { openFiles(window, files); });
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
  journeys(window, application, QApplication::arguments().mid(1));
  fmt::print("window thread busy in one go, at most: {:.1f} ms\n", application.all());
}
