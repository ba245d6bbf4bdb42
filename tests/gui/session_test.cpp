#include "gui/session.h"

#include <gmock/gmock.h>

#include <QTest>
#include <set>

#include "tests/cli/simulated_run.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

PlanQuestion smallQuestion() {
  return {.model = "profiles/models/tiny-gpt2.json", .cluster = "a100-80gb-sxm", .devices = 4, .global_batch = 8, .sequence = 64};
}

class OfSession : public testing::Test {
 protected:
  OfSession() {
    QObject::connect(&session_, &Session::failed, [this](const Message& message) { failure_ = message.problem; });
    QObject::connect(&session_, &Session::planRefused, [this](const Message& message) { refusal_ = message.problem; });
  }
  Session session_;
  QString failure_, refusal_;
};

TEST_F(OfSession, AnswersAQuestion) {
  SharedAnswer answer;
  QObject::connect(&session_, &Session::answered, [&](const SharedAnswer& found) { answer = found; });
  session_.ask(smallQuestion());
  EXPECT_TRUE(session_.isSearching());
  ASSERT_TRUE(QTest::qWaitFor([&] { return answer != nullptr; }, 60000));
  EXPECT_FALSE(answer->result.ranked.empty());
  EXPECT_EQ(answer->limit, sim::usable_memory(sim::load_cluster("a100-80gb-sxm", sim::DeviceCount{8})));
}

TEST_F(OfSession, FewerDevicesCompeteByWhatTheyCost) {
  SharedAnswer answer;
  std::vector<double> shares;
  QObject::connect(&session_, &Session::answered, [&](const SharedAnswer& found) { answer = found; });
  QObject::connect(&session_, &Session::progressed, [&](const planner::SearchProgress&, double share) { shares.push_back(share); });
  PlanQuestion question = smallQuestion();
  question.fewer = true;
  question.objective = planner::Objective::Cost;
  session_.ask(question);
  ASSERT_TRUE(QTest::qWaitFor([&] { return answer != nullptr; }, 60000));
  EXPECT_EQ(answer->objective, planner::Objective::Cost);
  std::set<std::int32_t> devices;
  for (const planner::RankedPlan& plan : answer->result.ranked) devices.insert(plan.plan.cluster.devices);
  EXPECT_GT(devices.size(), 1u);
  EXPECT_EQ(answer->result.ranked.front().plan.cluster.devices, 1) << "one device exchanges nothing";
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
}

TEST_F(OfSession, ACancelledSearchEndsSoon) {
  PlanQuestion large = smallQuestion();
  large.model = "profiles/models/gpt3-175b.json";
  large.cluster = "dgx-h100-1024";
  large.devices = 1024;
  large.global_batch = 1536;
  large.sequence = 2048;
  session_.ask(large);
  QTest::qWait(50);
  session_.cancel();
  EXPECT_TRUE(QTest::qWaitFor([&] { return !session_.isSearching(); }, 60000));
}

TEST_F(OfSession, ShowsAPlanAndKeepsTheOneBeforeAnEdit) {
  SharedPlan now, before;
  QObject::connect(&session_, &Session::planReady, [&](const SharedPlan& plan, const SharedPlan& old) { now = plan, before = old; });
  session_.show(test::examplePlan(), Session::Origin::Chosen);
  ASSERT_TRUE(QTest::qWaitFor([&] { return now != nullptr; }));
  EXPECT_EQ(before, nullptr);
  const SharedPlan first = now;
  session_.show(test::examplePlan(), Session::Origin::Turned);
  ASSERT_TRUE(QTest::qWaitFor([&] { return before == first; }));
  session_.showEveryRank(true);
  ASSERT_TRUE(QTest::qWaitFor([&] { return now->shown().devices.devices().size() == 4; }));
}

TEST_F(OfSession, WhatBreaksARuleIsRefusedAndWhatIsNoRunIsTold) {
  sim::ParallelPlan broken = test::examplePlan();
  broken.mesh.tensor = 3;
  session_.show(broken, Session::Origin::Turned);
  session_.openRun("/no/such/run");
  EXPECT_TRUE(QTest::qWaitFor([&] { return !refusal_.isEmpty() && !failure_.isEmpty(); }));
  EXPECT_EQ(session_.plan(), nullptr);
}

TEST_F(OfSession, OpensARun) {
  session_.openRun(QString::fromStdString(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_session")));
  EXPECT_TRUE(QTest::qWaitFor([&] { return session_.run() != nullptr; }, 60000));
}

}  // namespace
}  // namespace gui
