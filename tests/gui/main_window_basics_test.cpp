#include <gmock/gmock.h>

#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QScreen>
#include <QSettings>
#include <QTest>
#include <set>

#include "gui/main_window.h"
#include "gui/pages/message_bar.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/trace_page.h"
#include "gui/views/scatter_view.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/import/traces.h"
#include "tests/gui/journeys/shown_texts.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

void press(MainWindow& window, const char* shortcut) {
  for (QAction* action : window.actions().all())
    if (action->shortcut() == QKeySequence(QLatin1String(shortcut))) return action->trigger();
  FAIL() << shortcut;
}

TEST(Basics, AltAndALetterOpenAMenuFromEveryPage) {
  MainWindow window;
  window.resize(1366, 768);
  window.show();
  EXPECT_TRUE(window.style()->styleHint(QStyle::SH_MenuBar_AltKeyNavigation, nullptr, window.menuBar()));
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  std::set<QString> letters;
  for (const QAction* menu : window.menuBar()->actions()) {
    const QString letter = QKeySequence::mnemonic(menu->text()).toString();
    EXPECT_FALSE(letter.isEmpty()) << menu->text().toStdString();
    EXPECT_TRUE(letters.insert(letter).second) << letter.toStdString();
  }
  for (const QWidget* widget : window.findChildren<QWidget*>()) {
    const auto* label = qobject_cast<const QLabel*>(widget);
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    const QString text = button != nullptr ? button->text() : label != nullptr && label->buddy() != nullptr ? label->text() : QString();
    EXPECT_FALSE(letters.contains(QKeySequence::mnemonic(text).toString())) << text.toStdString();
  }
  for (int page = 0; page < window.pages()->count(); ++page) {
    window.pages()->setCurrentIndex(page);
    QTest::keyClick(&window, Qt::Key_F, Qt::AltModifier);
    QMenu* const file = window.menuBar()->actions().front()->menu();
    EXPECT_TRUE(file->isVisible()) << page;
    file->close();
  }
}

TEST(Basics, APageThatIsTurnedToTakesTheKeyboard) {
  MainWindow window;
  window.show();
  window.activateWindow();
  window.session()->show(test::examplePlan(), Session::Origin::Chosen);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window.session()->plan() != nullptr && !window.isWorking(); }, 60000));
  press(window, "Ctrl+2");
  EXPECT_EQ(window.focusWidget(), window.timelinePage()->view());
  QTest::keyClick(window.focusWidget(), Qt::Key_Period);
  EXPECT_TRUE(window.timelinePage()->view()->selected()) << "the first slice that is seen";
  for (int page = 0; page < window.pages()->count(); ++page) {
    press(window, qPrintable(QStringLiteral("Ctrl+%1").arg(page + 1)));
    ASSERT_NE(window.focusWidget(), nullptr);
    EXPECT_TRUE(window.pages()->currentWidget()->isAncestorOf(window.focusWidget())) << page;
  }
}

TEST(Basics, RecentFilesOpenAgain) {
  QSettings().remove("files/recent");
  MainWindow window;
  window.restoreLast();
  window.open("profiles/models/gpt2.json");
  window.open("/no/such/file");
  MainWindow later;
  later.restoreLast();
  Q_EMIT later.documents()->recent()->aboutToShow();
  ASSERT_EQ(later.documents()->recent()->actions().size(), 1);
  later.documents()->recent()->actions().front()->trigger();
  EXPECT_THAT(later.question()->question().model, testing::HasSubstr("gpt2.json"));
  QSettings().remove("files/recent");
}

TEST(Basics, PanelsAreShownAndHiddenByKey) {
  MainWindow window;
  window.show();
  QDockWidget* const question = window.findChildren<QDockWidget*>().front();
  EXPECT_TRUE(question->isVisible());
  press(window, "Ctrl+Shift+1");
  EXPECT_FALSE(question->isVisible());
  press(window, "Ctrl+Shift+1");
  EXPECT_TRUE(question->isVisible());
}

// 1366 x 768, and 1280 x 720 at 150 %: the button is there without scrolling.
TEST(Basics, ThePlanButtonIsAlwaysInSight) {
  for (const QSize size : {QSize(1366, 720), QSize(854, 480)}) {
    MainWindow window;
    window.resize(size);
    window.show();
    QTest::qWait(20);
    const QPushButton* plan = window.question()->planButton();
    EXPECT_EQ(plan->visibleRegion().boundingRect(), plan->rect()) << size.height();
  }
}

// A first window is no larger than its screen: the status bar and the right of each page are in sight.
TEST(Basics, TheFirstWindowFitsItsScreen) {
  QSettings().remove("window/geometry");
  MainWindow window;
  window.restoreLast();
  EXPECT_LE(window.width(), window.screen()->availableSize().width());
  EXPECT_LE(window.height(), window.screen()->availableSize().height());
}

// Nothing moves under the mouse of who turns pages.
TEST(Basics, TheTabsOfPagesStayWhereTheyAre) {
  MainWindow window;
  window.resize(1366, 740);
  window.show();
  window.session()->show(test::examplePlan(), Session::Origin::Chosen);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window.session()->plan() != nullptr && !window.isWorking(); }, 60000));
  const QPoint before = window.pages()->mapTo(&window, QPoint());
  for (int page = 0; page < window.pages()->count(); ++page) {
    window.pages()->setCurrentIndex(page);
    QTest::qWait(0);
    EXPECT_EQ(window.pages()->mapTo(&window, QPoint()), before) << page;
  }
}

TEST(Basics, AFolderOfTracesIsOneTimeline) {
  const sim::testing::TemporaryFolder folder;
  sim::testing::put(folder.file("rank0.json"), test::smallTrace());
  sim::testing::put(folder.file("rank1.json"), test::smallTrace());
  MainWindow window;
  window.open(QString::fromStdString(folder.path()));
  ASSERT_TRUE(QTest::qWaitFor([&] { return window.tracePage()->view()->core().numSlices() > 0; }, 60000))
      << window.message()->text().toStdString();
  EXPECT_TRUE(window.tracePage()->summary()->text().contains("rank1.json"));
}

TEST(Basics, AFolderOfAModelIsTheModel) {
  const sim::testing::TemporaryFolder folder;
  ASSERT_TRUE(QFile::copy("profiles/models/gpt2.json", QString::fromStdString(folder.file("config.json"))));
  MainWindow window;
  window.open(QString::fromStdString(folder.path()));
  EXPECT_THAT(window.question()->question().model, testing::EndsWith("config.json"));
}

TEST(Basics, AFileToSaveHasAName) {
  MainWindow window;
  window.open("profiles/models/gpt2.json");
  press(window, "Ctrl+2");
  press(window, "Ctrl+E");
  const auto* dialog = window.findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  EXPECT_THAT(dialog->selectedFiles().front().toStdString(), testing::EndsWith("gpt2-timeline.png"));
}

TEST(Basics, TheMenuOfATimelineHoldsItsKeysAndItsExport) {
  MainWindow window;
  QStringList words;
  for (const QAction* action : window.timelinePage()->view()->actions()) words << action->text();
  EXPECT_TRUE(words.join('|').contains("Fit the slice")) << words.join('|').toStdString();
  EXPECT_TRUE(words.join('|').contains("picture")) << words.join('|').toStdString();
  EXPECT_GE(window.planPage()->table()->view()->actions().size(), 3);
  QStringList of_scatter;
  for (const QAction* action : window.planPage()->scatter()->actions()) of_scatter << action->text();
  EXPECT_NE(window.planPage()->scatter()->contextMenuPolicy(), Qt::NoContextMenu);
  EXPECT_TRUE(of_scatter.join('|').contains("picture")) << of_scatter.join('|').toStdString();
}

// A page that has nothing yet says what to do next.
TEST(Basics, AnEmptyPageSaysWhatToDoNext) {
  MainWindow window;
  window.resize(1366, 740);
  window.show();
  constexpr const char* kNext[] = {"Open a model",      "press Plan",    "press Plan",  "press Plan",
                                   "Open a run folder", "choose a plan", "Open traces", "Choose a plan"};
  ASSERT_EQ(static_cast<int>(std::size(kNext)), window.pages()->count());
  for (int page = 0; page < window.pages()->count(); ++page) {
    window.pages()->setCurrentIndex(page);
    QTest::qWait(0);
    QStringList words;
    for (QWidget* widget : window.pages()->widget(page)->findChildren<QWidget*>()) {
      if (!widget->isVisible()) continue;
      if (auto* view = dynamic_cast<View*>(widget)) words << test::paintedTexts(*view);
      words << widget->property("text").toString();
    }
    EXPECT_TRUE(words.join('|').contains(QLatin1String(kNext[page]), Qt::CaseInsensitive)) << page << ": " << words.join('|').toStdString();
  }
}

}  // namespace
}  // namespace gui
