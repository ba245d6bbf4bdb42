// Runs a command of `meshwright` beside the window, one at a time: to measure this machine, to make tokens of texts. Tells when it has ended,
// or in its words why it failed, and how far it is.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QTimer>
#include <functional>

#include "gui/core/progress.h"
#include "gui/jobs/message.h"
#include "sim/units/sim_time.h"

namespace gui {

QString programBesideUs(const QString& name);  // it lies in the folder of meshwright-gui; its name alone where a shell finds that one, too

class ToolProcess : public QObject {
  Q_OBJECT
 public:
  explicit ToolProcess(QObject* parent = nullptr);
  ~ToolProcess() override;
  void setProgram(const QString& program) { program_ = program; }
  using Then = std::function<void(const QString& said)>;
  // doing: "Measuring this machine"; then: it has succeeded. Refused while another runs.
  void start(const QString& doing, const QStringList& words, Then then);
  const QString& doing() const { return doing_; }
  bool isRunning() const { return process_.state() != QProcess::NotRunning; }
  void cancel();  // what it would have written is not there; told as ended

 Q_SIGNALS:
  void progressed(double share, std::optional<sim::Seconds> left);  // by its last line, "step 30 of 120": twice a second
  void ended();                                                     // however; then one of these, or what was to follow
  void cancelled();
  void failed(const gui::Message& message);

 private:
  void end();
  void tell();

  QString program_;
  QProcess process_;
  QByteArray said_;
  QString doing_;
  QElapsedTimer began_;
  QTimer telling_;
  Pace pace_;
  bool cancelled_ = false;
  Then then_;
};

}  // namespace gui
