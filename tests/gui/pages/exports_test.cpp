#include <gmock/gmock.h>

#include <QFileDialog>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "gui/main_window.h"
#include "gui/pages/message_bar.h"
#include "gui/pages/step_explanation.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(Exports, TheTableWithTheFocusIsExported) {
  MainWindow window;
  window.show();
  window.pages()->setCurrentWidget(window.timelinePage());
  window.session()->show(test::examplePlan(), Session::Origin::Chosen);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window.session()->plan() != nullptr && !window.isWorking(); }, 60000));
  const QTemporaryDir folder;
  const auto exported = [&](const QString& name) {
    window.exports()->table(folder.filePath(name));
    QFile file(folder.filePath(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  };
  EXPECT_TRUE(exported("main.csv").startsWith("Figure"));
  window.timelinePage()->explanation()->bubble()->view()->setFocus();
  EXPECT_TRUE(exported("chosen.csv").startsWith("Of the step"));
}

// Where nothing can be written each says so and what helps; nothing is lost, and the next folder works.
TEST(Exports, WhatCannotBeWrittenIsTold) {
  MainWindow window;
  window.session()->show(test::examplePlan(), Session::Origin::Chosen);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window.session()->plan() != nullptr && !window.isWorking(); }, 60000));
  const QTemporaryDir folder;
  const std::pair<const char*, void (Exports::*)(const QString&)> kAll[] = {{"a.png", &Exports::picture},  {"a.svg", &Exports::picture},
                                                                            {"a.pdf", &Exports::picture},  {"a.csv", &Exports::table},
                                                                            {"plan.json", &Exports::plan}, {"view.json", &Exports::view}};
  for (const auto& [name, save] : kAll) {
    window.message()->hide();
    (window.exports()->*save)(QStringLiteral("/no/such/folder/") + name);
    EXPECT_TRUE(window.message()->text().contains("What helps")) << name << ": " << window.message()->text().toStdString();
    window.message()->hide();
    (window.exports()->*save)(folder.filePath(name));
    EXPECT_TRUE(window.message()->text().isEmpty()) << name << ": " << window.message()->text().toStdString();
    EXPECT_TRUE(window.statusBar()->currentMessage().contains(name));
    EXPECT_TRUE(QFile::exists(folder.filePath(name))) << name;
  }
}

TEST(Exports, ANameWithoutAnEndingGetsOne) {
  MainWindow window;
  for (QAction* action : window.actions().all())
    if (action->shortcut() == QKeySequence("Ctrl+E")) action->trigger();
  auto* dialog = window.findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->defaultSuffix(), "png");
  dialog->close();
}

}  // namespace
}  // namespace gui
