// Every page with something on it: a plan, a run, a trace, an answer.
#pragma once

#include <gtest/gtest.h>

#include <QTest>

#include "gui/main_window.h"
#include "gui/pages/answers_page.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/trace_page.h"
#include "tests/cli/simulated_run.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/idle.h"
#include "tests/gui/import/traces.h"
#include "tests/sim/timeline/timelines.h"

namespace gui::test {

inline void fillEveryPage(MainWindow& window) {
  window.open(QString::fromStdString(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_every_page", {.factor = 1.5})));
  ASSERT_TRUE(QTest::qWaitFor([&] { return window.comparePage()->comparison() != nullptr; }, 60000));
  static const sim::testing::TemporaryFolder folder;  // it stays: the window looks at it
  sim::testing::put(folder.file("rank0.json"), smallTrace());
  window.open(QString::fromStdString(folder.file("rank0.json")));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window.tracePage()->statistics()->table().rows.empty(); }, 60000));
  window.pages()->setCurrentWidget(window.answersPage());
  window.answersPage()->questions()->setCurrentRow(0);
  ASSERT_TRUE(waitUntilIdle(window));
}

}  // namespace gui::test
