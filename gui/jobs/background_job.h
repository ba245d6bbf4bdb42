// Work beside the window's thread: one job at a time, a new one replaces the old one. What the work returns runs on the window's thread.
// Never blocks the window, apart from the end of its own life.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <functional>
#include <memory>

#include "gui/jobs/message.h"

namespace gui {

class BackgroundJob : public QObject {
  Q_OBJECT
 public:
  using Finish = std::function<void()>;                                    // on the window's thread
  using Work = std::function<Finish(const std::atomic<bool>& cancelled)>;  // on a worker; may throw

  explicit BackgroundJob(QObject* parent = nullptr);
  ~BackgroundJob() override;
  void start(Work work);  // a job that runs is cancelled, its result dropped
  void cancel();          // the job may still finish with what it knows
  bool isRunning() const { return running_ != nullptr; }

 Q_SIGNALS:
  void runningChanged(bool running);
  void failed(const gui::Message& message);

 private:
  using Flag = std::shared_ptr<std::atomic<bool>>;
  void settle(const Flag& job, const Finish& finish);
  Flag running_;  // of the newest job
  QThreadPool pool_;
};

}  // namespace gui
