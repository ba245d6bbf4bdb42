#include "gui/pages/page_stack.h"

#include <gmock/gmock.h>

#include <QTest>
#include <set>

#include "gui/pages/answers_page.h"
#include "gui/pages/step_explanation.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(PageStack, EveryPageHasAPictureATableAndAName) {
  PageStack pages;
  pages.show();
  std::set<QString> names;
  for (int page = 0; page < pages.count(); ++page) {
    pages.turnTo(page);
    EXPECT_NE(pages.shownView(), nullptr);
    EXPECT_NE(pages.shownTable(), nullptr);
    EXPECT_TRUE(names.insert(pages.shownName()).second);
  }
  EXPECT_EQ(names.size(), 8u);
}

TEST(PageStack, WhatAPersonIsInIsShown) {
  PageStack pages;
  pages.resize(1200, 800);
  pages.show();
  pages.setPlan(test::exampleSimulation(), nullptr);
  pages.turnTo(1);
  EXPECT_EQ(pages.focusWidget(), pages.timeline()->view());
  EXPECT_EQ(pages.shownTable(), pages.timeline()->figures());
  pages.timeline()->explanation()->bubble()->view()->setFocus();
  EXPECT_EQ(pages.shownTable(), pages.timeline()->explanation()->bubble());
}

}  // namespace
}  // namespace gui
