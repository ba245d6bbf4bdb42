#include "gui/jobs/background_job.h"

#include <gmock/gmock.h>

#include <QSignalSpy>
#include <QTest>

namespace gui {
namespace {

TEST(BackgroundJob, FinishesOnTheWindowsThread) {
  BackgroundJob job;
  QThread *worked = nullptr, *finished = nullptr;
  job.start([&](const std::atomic<bool>&) -> BackgroundJob::Finish {
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
  job.start([&](const std::atomic<bool>& cancelled) -> BackgroundJob::Finish {
    while (!cancelled) QThread::msleep(1);
    return [&] { finished.push_back(1); };
  });
  job.start([&](const std::atomic<bool>&) -> BackgroundJob::Finish { return [&] { finished.push_back(2); }; });
  ASSERT_TRUE(QTest::qWaitFor([&] { return !job.isRunning(); }));
  QTest::qWait(20);
  EXPECT_THAT(finished, testing::ElementsAre(2));
}

TEST(BackgroundJob, WhatIsThrownIsTold) {
  BackgroundJob job;
  QString told;
  QObject::connect(&job, &BackgroundJob::failed, [&](const Message& message) { told = message.problem; });
  job.start([](const std::atomic<bool>&) -> BackgroundJob::Finish { throw std::runtime_error("no"); });
  ASSERT_TRUE(QTest::qWaitFor([&] { return !told.isEmpty(); }));
  EXPECT_EQ(told, "no");
}

TEST(BackgroundJob, EndsWithItsOwner) {
  auto job = std::make_unique<BackgroundJob>();
  job->start([](const std::atomic<bool>& cancelled) -> BackgroundJob::Finish {
    while (!cancelled) QThread::msleep(1);
    return {};
  });
  job.reset();
}

}  // namespace
}  // namespace gui
