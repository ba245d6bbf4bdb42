#include <QAccessible>
#include <random>

#include "gui/pages/knobs_panel.h"
#include "gui/pages/run_page.h"
#include "gui/views/line_view.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

// Somebody who does everything at once, and in no order: the window stays usable.
class StormJourney : public Journey {
 protected:
  void closeDialogs() {
    for (QDialog* dialog : window_.findChildren<QDialog*>())
      if (dialog->isVisible()) dialog->close();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  }
  // The window does what it is asked for.
  void isUsable() {
    closeDialogs();
    waitForAll();
    trigger("Ctrl+3");
    EXPECT_EQ(window_.pages()->currentIndex(), 2);
    trigger("Ctrl+1");
    EXPECT_EQ(window_.pages()->currentIndex(), 0);
  }
};

TEST_F(StormJourney, EveryCommandInAnyOrder) {
  planGpt2();
  std::mt19937 random(7);
  QStandardPaths::setTestModeEnabled(true);
  QList<QAction*> commands;
  for (QAction* action : window_.actions().all())
    if (action->shortcut() != QKeySequence("Ctrl+Q") && action->shortcut() != QKeySequence("Ctrl+Shift+M")) commands << action;
  for (int times = 0; times < 250; ++times) {
    commands[static_cast<qsizetype>(random() % static_cast<unsigned>(commands.size()))]->trigger();
    if (times % 7 == 0) QTest::qWait(5);
    if (times % 20 == 0) closeDialogs();
  }
  isUsable();
  for (const char* theme : {"dark", "contrast"}) window_.findChild<QAction*>(theme)->setChecked(false);
}

TEST_F(StormJourney, EveryKeyInEveryPicture) {
  planGpt2();
  choosePipelined(4);
  std::mt19937 random(11);
  constexpr Qt::Key kKeys[] = {Qt::Key_W,
                               Qt::Key_A,
                               Qt::Key_S,
                               Qt::Key_D,
                               Qt::Key_F,
                               Qt::Key_P,
                               Qt::Key_Period,
                               Qt::Key_Comma,
                               Qt::Key_BracketLeft,
                               Qt::Key_BracketRight,
                               Qt::Key_Left,
                               Qt::Key_Right,
                               Qt::Key_Up,
                               Qt::Key_Down,
                               Qt::Key_Return,
                               Qt::Key_Escape,
                               Qt::Key_Home,
                               Qt::Key_End,
                               Qt::Key_0};
  for (int page = 0; page < window_.pages()->count(); ++page) {
    window_.pages()->setCurrentIndex(page);
    for (View* view : window_.pages()->widget(page)->findChildren<View*>())
      for (int times = 0; times < 60 && view->isVisible(); ++times) {
        QTest::keyClick(view, kKeys[random() % std::size(kKeys)]);
        const QPoint at(static_cast<int>(random() % static_cast<unsigned>(std::max(1, view->width()))),
                        static_cast<int>(random() % static_cast<unsigned>(std::max(1, view->height()))));
        if (times % 5 == 0) QTest::mouseClick(view, Qt::LeftButton, {}, at);
        if (times % 9 == 0) QTest::mouseMove(view, at);
      }
  }
  isUsable();
}

TEST_F(StormJourney, EditsUndoneAndRedoneFasterThanTheyAreSimulated) {
  planGpt2();
  choosePipelined(4);
  const std::string before = sim::plan_hash(*window_.session()->wanted());
  QSpinBox* microbatch = window_.knobs()->findChild<QSpinBox*>("microbatch");
  for (const int value : {1, 2, 4, 3, 8, 1, 2}) microbatch->setValue(value);
  const int edits = window_.undoStack()->count();
  for (int times = 0; times < 50; ++times) times % 3 == 2 ? window_.undoStack()->redo() : window_.undoStack()->undo();
  while (window_.undoStack()->canUndo()) window_.undoStack()->undo();
  while (window_.undoStack()->canRedo()) window_.undoStack()->redo();
  for (int times = 0; times < edits; ++times) window_.undoStack()->undo();
  waitForPlan();
  EXPECT_EQ(sim::plan_hash(window_.session()->plan()->plan), before);
  isUsable();
}

// A screen of 1,920 pixels at 200 % is 960 wide.
TEST_F(StormJourney, TheWindowFitsASmallScreen) {
  planGpt2();
  for (int page = 0; page < window_.pages()->count(); ++page) {
    const QSize least = window_.pages()->widget(page)->minimumSizeHint();
    EXPECT_LE(least.width(), 690) << window_.pages()->tabText(page).toStdString();
    EXPECT_LE(least.height(), 460) << window_.pages()->tabText(page).toStdString();
  }
  EXPECT_LE(window_.minimumSizeHint().width(), 960);
  EXPECT_LE(window_.minimumSizeHint().height(), 540);
}

TEST_F(StormJourney, TinyAndHuge) {
  planGpt2();
  for (const QSize size : {QSize(1, 1), QSize(640, 480), QSize(3840, 2160), QSize(1440, 900)}) {
    window_.resize(size);
    for (int page = 0; page < window_.pages()->count(); ++page) {
      window_.pages()->setCurrentIndex(page);
      QTest::qWait(0);
      EXPECT_FALSE(window_.grab().isNull());
    }
    if (size.width() == 3840) picture("plan_4k");
    if (size.width() == 640) picture("small");
  }
  isUsable();
}

TEST_F(StormJourney, ClosedWhileItPlansSimulatesAndOpens) {
  for (const int wait : {0, 20, 200}) {
    MainWindow other;
    other.show();
    planGpt3(other);
    QTest::qWait(wait);
    other.close();
  }
  planGpt2();
  window_.session()->showEveryRank(true);
  window_.close();
}

TEST_F(StormJourney, TwoWindowsOnOneRun) {
  const QTemporaryDir folder;
  QFile metrics(folder.filePath("metrics.ndjson"));
  ASSERT_TRUE(metrics.open(QIODevice::WriteOnly));
  MainWindow other;
  other.show();
  for (MainWindow* window : {&window_, &other}) window->runPage()->follow(folder.path());
  for (int step = 1; step <= 5; ++step) {
    metrics.write(QByteArray("{\"step\": ") + QByteArray::number(step) + ", \"loss\": 2, \"tokens_per_second\": 10}\n");
    metrics.flush();
    QTest::qWait(100);
  }
  for (MainWindow* window : {&window_, &other})
    EXPECT_TRUE(QTest::qWaitFor([&] { return window->runPage()->loss()->numPoints() == 5; }, 60000));
  other.close();
  isUsable();
}

// Without a mouse: from the first line of the form through every control, and back to it.
TEST_F(StormJourney, TabReachesEveryControlOfThePage) {
  planGpt2();
  window_.activateWindow();
  QSet<QWidget*> reached;
  for (int times = 0; times < 200; ++times) {
    QTest::keyClick(window_.focusWidget() != nullptr ? window_.focusWidget() : &window_, Qt::Key_Tab);
    if (window_.focusWidget() != nullptr) reached << window_.focusWidget();
  }
  QStringList missed;
  for (QWidget* widget : window_.findChildren<QWidget*>())
    if (widget->isVisible() && widget->isEnabled() && (widget->focusPolicy() & Qt::TabFocus) && widget->focusProxy() == nullptr &&
        !reached.contains(widget))
      missed << QString::fromLatin1(widget->metaObject()->className()) + ' ' + widget->objectName() + ' ' + widget->accessibleName();
  EXPECT_EQ(missed.join('\n').toStdString(), "");
}

// While it searches: other sizes, other themes, another question; the last one is answered.
TEST_F(StormJourney, ResizedAndRecoloredWhileItSearches) {
  PlanQuestion question = window_.question()->question();
  question.model = "profiles/models/gpt3-175b.json";
  question.cluster = "h100-80gb-sxm";
  question.devices = 256;
  question.global_batch = 512;
  question.sequence = 2048;
  window_.question()->setQuestion(question);
  window_.plan();
  for (int times = 0; times < 12; ++times) {
    window_.resize(700 + 90 * times, 500 + 40 * times);
    window_.findChild<QAction*>(times % 2 == 0 ? "dark" : "contrast")->toggle();
    QTest::qWait(5);
  }
  for (const char* theme : {"dark", "contrast"}) window_.findChild<QAction*>(theme)->setChecked(false);
  planGpt2();
  EXPECT_EQ(window_.planPage()->candidates().front().plan.plan.cluster.devices, 16);
  isUsable();
}

// With a screen reader: whatever takes the focus says what it is.
TEST_F(StormJourney, EveryControlHasAName) {
  planGpt2();
  QStringList nameless;
  for (QWidget* widget : window_.findChildren<QWidget*>()) {
    if (!(widget->focusPolicy() & Qt::TabFocus) || widget->focusProxy() != nullptr || widget->window() != &window_) continue;
    QAccessibleInterface* known = QAccessible::queryAccessibleInterface(widget);
    if (known == nullptr || (known->text(QAccessible::Name).isEmpty() && known->text(QAccessible::Value).isEmpty()) ||
        known->role() == QAccessible::Client)
      nameless << QString::fromLatin1(widget->metaObject()->className()) + " in " + widget->parentWidget()->metaObject()->className();
  }
  nameless.removeDuplicates();
  EXPECT_EQ(nameless.join('\n').toStdString(), "");
}

}  // namespace
}  // namespace gui::test
