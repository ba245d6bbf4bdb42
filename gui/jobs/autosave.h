// Writes the work of a window a moment after it has changed, beside the window's thread, not at its end alone: a display that goes away ends the
// program.
#pragma once

#include <QThreadPool>
#include <QTimer>
#include <functional>

#include "gui/core/last_work.h"
#include "gui/jobs/message.h"

namespace gui {

class Autosave : public QObject {
  Q_OBJECT
 public:
  explicit Autosave(std::function<LastWork()> work, QObject* parent = nullptr);
  ~Autosave() override;
  void begin(const QString& path);  // from now on
  void changed();
  void finish();  // what is not written yet, at once
  void forget();  // from now on nothing

 Q_SIGNALS:
  void failed(const gui::Message& message);

 private:
  void write();

  std::function<LastWork()> work_;
  QString path_;  // empty: not yet
  QTimer soon_;
  QThreadPool writer_;  // one thread: one file
};

}  // namespace gui
