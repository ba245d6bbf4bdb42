#include "gui/compare_page.h"

#include <gmock/gmock.h>

#include "gui/table_panel.h"
#include "gui/views/timeline_view.h"
#include "tests/cli/simulated_run.h"

namespace gui {
namespace {

class Compare : public testing::Test {
 protected:
  Compare() {
    page_.resize(1000, 800);
    page_.setRun(loadRun(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_page", {.factor = 1.5})));
  }
  ComparePage page_;
};

TEST_F(Compare, BothSidesShareTheAxis) {
  EXPECT_EQ(page_.simulated()->shown(), page_.measured()->shown());
  page_.measured()->setShown({sim::SimTime(5), sim::SimTime(5'000'000)});
  EXPECT_EQ(page_.simulated()->shown(), page_.measured()->shown());
}

TEST_F(Compare, ASelectedTaskHasItsPartner) {
  page_.simulated()->select(Slice{{1}, 1});
  EXPECT_TRUE(page_.measured()->selected().has_value());
}

TEST_F(Compare, ErrorsAreListedAndTheGapIsExplained) {
  EXPECT_GT(page_.errors()->table().rows.size(), 5u);
  EXPECT_EQ(page_.gap()->table().rows.size(), 2 + sim::kNumIdleCauses);
}

}  // namespace
}  // namespace gui
