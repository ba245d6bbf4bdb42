#include "gui/jobs/background_job.h"

namespace gui {

// Two threads: what was superseded comes to its end beside the new job.
BackgroundJob::BackgroundJob(QObject* parent) : QObject(parent) { pool_.setMaxThreadCount(2); }

BackgroundJob::~BackgroundJob() {
  cancel();
  pool_.waitForDone();
}

void BackgroundJob::start(Work work) {
  cancel();
  const bool was_running = isRunning();
  running_ = std::make_shared<std::atomic<bool>>(false);
  pool_.start([this, job = running_, work = std::move(work)] {
    Finish finish;
    try {
      finish = work(*job);
    } catch (...) {
      finish = [this, message = messageOf(std::current_exception())] { Q_EMIT failed(message); };
    }
    QMetaObject::invokeMethod(
        this, [this, job, finish = std::move(finish)] { settle(job, finish); }, Qt::QueuedConnection);
  });
  if (!was_running) Q_EMIT runningChanged(true);
}

void BackgroundJob::cancel() {
  if (running_) running_->store(true);
}

void BackgroundJob::settle(const Flag& job, const Finish& finish) {
  if (job != running_) return;
  running_.reset();
  Q_EMIT runningChanged(false);
  if (finish) finish();
}

}  // namespace gui
