#include "gui/jobs/background_job.h"

namespace gui {

// Two threads: what was superseded comes to its end beside the new job.
BackgroundJob::BackgroundJob(QObject* parent) : QObject(parent) {
  constexpr int kEvery = 100;  // milliseconds
  pool_.setMaxThreadCount(2);
  telling_.setInterval(kEvery);
  connect(&telling_, &QTimer::timeout, this, [this] {
    const double share = running_->share();
    Q_EMIT progressed(share, pace_.left(share, sim::Seconds(1e-3 * static_cast<double>(began_.elapsed()))));
  });
}

BackgroundJob::~BackgroundJob() {
  cancel();
  pool_.waitForDone();
}

void BackgroundJob::start(const QString& doing, Work work) {
  cancel();
  const bool was_running = isRunning();
  running_ = std::make_shared<Progress>();
  doing_ = doing;
  began_.start();
  pace_ = {};
  doing.isEmpty() ? telling_.stop() : telling_.start();
  pool_.start([this, job = running_, work = std::move(work)] {
    Finish finish;
    try {
      finish = work(*job);
    } catch (...) {
      finish = [this, message = messageOf(std::current_exception()), wanted = !job->cancelled] { giveUp(message, wanted); };
    }
    QMetaObject::invokeMethod(
        this, [this, job, finish = std::move(finish)] { settle(job, finish); }, Qt::QueuedConnection);
  });
  if (!was_running) Q_EMIT runningChanged(true);
}

void BackgroundJob::giveUp(const Message& why, bool wanted) {
  if (wanted)
    Q_EMIT failed(why);
  else
    Q_EMIT cancelled();
}

void BackgroundJob::cancel() {
  if (running_) running_->cancelled = true;
}

void BackgroundJob::settle(const Shared& job, const Finish& finish) {
  if (job != running_) return;
  running_.reset();
  telling_.stop();
  Q_EMIT runningChanged(false);
  if (finish) finish();
}

}  // namespace gui
