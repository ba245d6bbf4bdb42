// Work beside the window's thread: one job at a time, a new one replaces the old one. What the work returns runs on the window's thread.
// Never blocks the window, apart from the end of its own life. What takes long has a name, and is told how far it is.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <functional>
#include <memory>

#include "gui/core/progress.h"
#include "gui/jobs/message.h"
#include "sim/units/sim_time.h"

namespace gui {

class BackgroundJob : public QObject {
  Q_OBJECT
 public:
  using Finish = std::function<void()>;                    // on the window's thread
  using Work = std::function<Finish(Progress& progress)>;  // on a worker; may throw

  explicit BackgroundJob(QObject* parent = nullptr);
  ~BackgroundJob() override;
  void start(Work work) { start({}, std::move(work)); }  // a job that runs is cancelled, its result dropped
  void start(const QString& doing, Work work);           // doing: "Opening trace.json"
  void cancel();                                         // the job may still finish with what it knows
  bool isRunning() const { return running_ != nullptr; }
  const QString& doing() const { return doing_; }  // empty: nothing that somebody waits for

 Q_SIGNALS:
  void runningChanged(bool running);
  void progressed(double share, std::optional<sim::Seconds> left);  // of what has a name, ten times a second
  void cancelled();                                                 // and given up
  void failed(const gui::Message& message);

 private:
  using Shared = std::shared_ptr<Progress>;
  void settle(const Shared& job, const Finish& finish);
  void giveUp(const Message& why, bool wanted);
  Shared running_;  // of the newest job
  QString doing_;
  QElapsedTimer began_;
  Pace pace_;
  QTimer telling_;
  QThreadPool pool_;
};

}  // namespace gui
