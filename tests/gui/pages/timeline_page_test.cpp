#include "gui/pages/timeline_page.h"

#include <gmock/gmock.h>

#include "gui/pages/step_explanation.h"
#include "gui/pages/table_panel.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/idle.h"

namespace gui {
namespace {

class Page : public testing::Test {
 protected:
  Page() {
    page_.resize(1000, 600);
    page_.setPlan(test::exampleSimulation(), nullptr);
  }
  QString valueOf(const QString& name) const {
    for (const std::vector<Cell>& row : page_.details()->table().rows)
      if (row[0].text == name) return row[1].text;
    return {};
  }
  TimelinePage page_;
};

TEST_F(Page, SearchFindsByPatternAndEnterWalks) {
  page_.searchLine()->setText("backward.mlp");
  ASSERT_TRUE(test::waitUntilIdle(page_));
  EXPECT_GT(page_.numMatches(), 3);
  Q_EMIT page_.searchLine()->returnPressed();
  const auto first = page_.view()->selected();
  ASSERT_TRUE(first.has_value());
  Q_EMIT page_.searchLine()->returnPressed();
  EXPECT_NE(page_.view()->selected(), first);
}

TEST_F(Page, WhatIsFoundIsListedAndOtherRanksHide) {
  page_.searchLine()->setText("s1\\..*forward");  // of the second stage
  ASSERT_TRUE(test::waitUntilIdle(page_));
  TablePanel* found = page_.explanation()->found();
  ASSERT_EQ(found->table().rows.size(), static_cast<std::size_t>(page_.numMatches()));
  found->choose(2);
  ASSERT_TRUE(page_.view()->selected().has_value());
  EXPECT_EQ(page_.view()->deviceOrder().size(), 2u);
  page_.showMatching(true);
  EXPECT_THAT(page_.view()->deviceOrder(), testing::ElementsAre(1u));
  page_.searchLine()->clear();
  EXPECT_EQ(page_.view()->deviceOrder().size(), 2u);
  EXPECT_TRUE(found->table().rows.empty());
}

// What stands on slices is what a person looks for, and what the list says.
TEST_F(Page, WhatIsReadOnASliceIsFound) {
  page_.searchLine()->setText(page_.searchLine()->placeholderText().section(": ", 1));
  ASSERT_TRUE(test::waitUntilIdle(page_));
  ASSERT_GT(page_.numMatches(), 0) << "the example in the empty line finds something";
  EXPECT_TRUE(page_.explanation()->found()->table().rows[0][1].text.startsWith("L3 MLP bwd, mb"));
}

TEST_F(Page, ABrokenPatternIsSaidAndFindsNothing) {
  page_.searchLine()->setText("(");
  EXPECT_EQ(page_.numMatches(), 0);
}

TEST_F(Page, WhatIsNoLongerLookedForIsNotFound) {
  page_.searchLine()->setText("forward");
  page_.searchLine()->clear();
  ASSERT_TRUE(test::waitUntilIdle(page_));
  EXPECT_EQ(page_.numMatches(), 0);
}

// Ranks of a class share their slices; what is chosen, found and described is a rank's.
TEST_F(Page, EveryRankByItselfIsSearchedAndChosen) {
  page_.setPlan(test::exampleSimulation(Ranks::OneByOne), nullptr);
  EXPECT_EQ(page_.view()->deviceOrder().size(), 4u);
  page_.showRank(sim::Rank(3));
  ASSERT_TRUE(page_.view()->selected().has_value());
  EXPECT_EQ(page_.view()->core().row(page_.view()->selected()->row).device, "rank 3");
  EXPECT_EQ(valueOf("Stage"), "1");  // its stage
  page_.searchLine()->setText("s1\\..*forward");
  ASSERT_TRUE(test::waitUntilIdle(page_));
  const Table& found = page_.explanation()->found()->table();
  EXPECT_EQ(found.rows.front()[2].text, "rank 2, stage 1");
  EXPECT_EQ(found.rows.back()[2].text, "rank 3, stage 1");
  page_.showMatching(true);
  EXPECT_THAT(page_.view()->deviceOrder(), testing::ElementsAre(2u, 3u));
  page_.explanation()->found()->choose(static_cast<int>(found.rows.size()) - 1);
  EXPECT_EQ(page_.view()->core().row(page_.view()->selected()->row).device, "rank 3");
}

TEST_F(Page, ASelectedSliceIsDescribed) {
  page_.view()->select(Slice{{0}, 0});
  EXPECT_EQ(page_.details()->table().rows[0][0].text, "Operation");
  EXPECT_EQ(page_.figures()->table().rows[0][0].text, "Step time");
}

}  // namespace
}  // namespace gui
