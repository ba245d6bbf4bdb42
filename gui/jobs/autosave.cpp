#include "gui/jobs/autosave.h"

namespace gui {

Autosave::Autosave(std::function<LastWork()> work, QObject* parent) : QObject(parent), work_(std::move(work)) {
  constexpr int kSoon = 150;  // milliseconds: a hand on a knob turns it further
  soon_.setSingleShot(true);
  soon_.setInterval(kSoon);
  connect(&soon_, &QTimer::timeout, this, &Autosave::write);
  writer_.setMaxThreadCount(1);
}

Autosave::~Autosave() { writer_.waitForDone(); }

void Autosave::begin(const QString& path) { path_ = path; }

void Autosave::changed() {
  if (!path_.isEmpty()) soon_.start();
}

void Autosave::write() {
  writer_.clear();  // what waits is older
  writer_.start([this, work = work_(), path = path_.toStdString()] {
    try {
      saveWork(work, path);
    } catch (...) {
      QMetaObject::invokeMethod(
          this, [this, why = messageOf(std::current_exception())] { Q_EMIT failed(why); }, Qt::QueuedConnection);
    }
  });
}

void Autosave::finish() {
  if (soon_.isActive()) write();
  soon_.stop();
  writer_.waitForDone();
}

void Autosave::forget() {
  soon_.stop();
  writer_.waitForDone();
  path_.clear();
}

}  // namespace gui
