#include "gui/jobs/background_job.h"

#include <gmock/gmock.h>

#include <QSignalSpy>
#include <QTest>

namespace gui {
namespace {

TEST(BackgroundJob, FinishesOnTheWindowsThread) {
  BackgroundJob job;
  QThread *worked = nullptr, *finished = nullptr;
  job.start([&](Progress&) -> BackgroundJob::Finish {
    worked = QThread::currentThread();
    return [&] { finished = QThread::currentThread(); };
  });
  EXPECT_TRUE(job.isRunning());
  ASSERT_TRUE(QTest::qWaitFor([&] { return finished != nullptr; }));
  EXPECT_EQ(finished, QThread::currentThread());
  EXPECT_NE(worked, finished);
  EXPECT_FALSE(job.isRunning());
}

TEST(BackgroundJob, ANewJobReplacesTheOldOne) {
  BackgroundJob job;
  std::vector<int> finished;
  job.start([&](Progress& progress) -> BackgroundJob::Finish {
    while (!progress.cancelled) QThread::msleep(1);
    return [&] { finished.push_back(1); };
  });
  job.start([&](Progress&) -> BackgroundJob::Finish { return [&] { finished.push_back(2); }; });
  ASSERT_TRUE(QTest::qWaitFor([&] { return !job.isRunning(); }));
  QTest::qWait(20);
  EXPECT_THAT(finished, testing::ElementsAre(2));
}

TEST(BackgroundJob, WhatIsThrownIsTold) {
  BackgroundJob job;
  QString told;
  QObject::connect(&job, &BackgroundJob::failed, [&](const Message& message) { told = message.problem; });
  job.start([](Progress&) -> BackgroundJob::Finish { throw std::runtime_error("no"); });
  ASSERT_TRUE(QTest::qWaitFor([&] { return !told.isEmpty(); }));
  EXPECT_EQ(told, "no");
}

TEST(BackgroundJob, WhatHasANameTellsHowFarItIsAndHowLongItTakes) {
  BackgroundJob job;
  double share = 0;
  std::optional<sim::Seconds> left;
  bool cancelled = false;
  QObject::connect(&job, &BackgroundJob::progressed, [&](double part, std::optional<sim::Seconds> time) { share = part, left = time; });
  QObject::connect(&job, &BackgroundJob::cancelled, [&] { cancelled = true; });
  QObject::connect(&job, &BackgroundJob::failed, [](const Message&) { FAIL() << "nothing went wrong"; });
  job.start("Opening", [](Progress& progress) -> BackgroundJob::Finish {
    progress.all = 100;
    progress.done = 25;
    while (true) {
      QThread::msleep(1);
      progress.stopIfCancelled();
    }
  });
  ASSERT_TRUE(QTest::qWaitFor([&] { return left.has_value(); }));
  EXPECT_EQ(share, 0.25);
  EXPECT_NEAR(left->count(), 3, 1);
  job.cancel();
  EXPECT_TRUE(QTest::qWaitFor([&] { return cancelled; }));
}

TEST(BackgroundJob, EndsWithItsOwner) {
  auto job = std::make_unique<BackgroundJob>();
  job->start([](Progress& progress) -> BackgroundJob::Finish {
    while (!progress.cancelled) QThread::msleep(1);
    return {};
  });
  job.reset();
}

}  // namespace
}  // namespace gui
