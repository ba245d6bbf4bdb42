// Tests wait here until a page or window has shown all that it works on beside the window's thread.
#pragma once

#include <QTest>

#include "gui/jobs/background_job.h"

namespace gui::test {

[[nodiscard]] inline bool waitUntilIdle(const QObject& page) {
  return QTest::qWaitFor(
      [&] {
        const QList<BackgroundJob*> jobs = page.findChildren<BackgroundJob*>();
        return std::none_of(jobs.begin(), jobs.end(), [](const BackgroundJob* job) { return job->isRunning(); });
      },
      20000);
}

}  // namespace gui::test
