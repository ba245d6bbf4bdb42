// What somebody waits for, in the status bar: how far it is, how long it still takes, that Esc cancels it. Of several the one that began first.
#pragma once

#include <QObject>
#include <optional>

#include "sim/units/sim_time.h"

class QStatusBar;

namespace gui {

class BackgroundJob;
class ToolProcess;

class WaitingLine : public QObject {
  Q_OBJECT
 public:
  explicit WaitingLine(QStatusBar* bar) : QObject(nullptr), bar_(bar) {}
  void follow(BackgroundJob* job);  // while it does something with a name
  void follow(ToolProcess* tool);
  static QString textOf(const QString& doing, double share, std::optional<sim::Seconds> left);

 private:
  void say(const QObject* who, const QString& words);
  void end(const QObject* who);

  QStatusBar* bar_;
  const QObject* shown_ = nullptr;
  QString said_;  // what stands there by us
};

}  // namespace gui
