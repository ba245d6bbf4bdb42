#include "gui/pages/waiting_line.h"

#include <QStatusBar>

#include "gui/jobs/background_job.h"
#include "gui/jobs/tool_process.h"
#include "gui/models/cells.h"

namespace gui {

QString WaitingLine::textOf(const QString& doing, double share, std::optional<sim::Seconds> left) {
  if (share <= 0) return tr("%1… (Esc cancels)").arg(doing);
  return tr("%1: %2%3 (Esc cancels)").arg(doing, shareCell(share).text, leftText(left));
}

void WaitingLine::follow(BackgroundJob* job) {
  connect(job, &BackgroundJob::progressed, this,
          [this, job](double share, std::optional<sim::Seconds> left) { say(job, textOf(job->doing(), share, left)); });
  connect(job, &BackgroundJob::runningChanged, this, [this, job](bool running) {
    if (!running) return end(job);
    if (!job->doing().isEmpty()) say(job, textOf(job->doing(), 0, std::nullopt));
  });
  connect(job, &BackgroundJob::cancelled, this, [this] { bar_->showMessage(tr("Cancelled.")); });
}

void WaitingLine::follow(ToolProcess* tool) {
  connect(tool, &ToolProcess::progressed, this,
          [this, tool](double share, std::optional<sim::Seconds> left) { say(tool, textOf(tool->doing(), share, left)); });
  connect(tool, &ToolProcess::ended, this, [this, tool] { end(tool); });
  connect(tool, &ToolProcess::cancelled, this, [this] { bar_->showMessage(tr("Cancelled.")); });
}

void WaitingLine::say(const QObject* who, const QString& words) {
  if (shown_ != nullptr && shown_ != who) return;
  shown_ = who;
  said_ = words;
  bar_->showMessage(words);
}

void WaitingLine::end(const QObject* who) {
  if (shown_ != who) return;
  shown_ = nullptr;
  if (bar_->currentMessage() == said_) bar_->clearMessage();
}

}  // namespace gui
