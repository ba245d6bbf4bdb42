#include "gui/pages/plan_page.h"

#include <gmock/gmock.h>

#include "gui/pages/table_panel.h"
#include "gui/views/scatter_view.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

planner::SearchResult resultOfThree() {
  planner::SearchResult result;
  for (const std::int64_t microbatch : {1, 2, 4}) {
    sim::ParallelPlan plan = test::examplePlan();
    plan.microbatch_size = microbatch;
    result.ranked.push_back({plan, simulatePlan(plan)->result, {}, "slower"});
  }
  result.proof = "proven";
  return result;
}

TEST(PlanPage, TableAndScatterFollowEachOther) {
  PlanPage page;
  page.resize(1000, 700);
  std::vector<int> chosen;
  QObject::connect(&page, &PlanPage::candidateChosen, [&](int position) { chosen.push_back(position); });
  page.setResult({resultOfThree(), sim::Bytes(std::int64_t{80} << 30)});
  page.table()->choose(2);
  EXPECT_EQ(page.scatter()->chosen(), 2);
  Q_EMIT page.scatter()->pointChosen(1);
  EXPECT_EQ(page.table()->chosen(), 1);
  EXPECT_THAT(chosen, testing::ElementsAre(0, 2, 1));
}

TEST(PlanPage, AnAnswerWithoutPlans) {
  PlanPage page;
  planner::SearchResult none;
  none.excluded.emplace_back();
  page.setResult({none, {}});
  EXPECT_EQ(page.table()->chosen(), -1);
  EXPECT_EQ(page.exclusions()->table().rows.size(), 1u);
}

}  // namespace
}  // namespace gui
