// Runs a command of `meshwright` beside the window, one at a time: to measure this machine, to make tokens of texts. Tells when it has ended,
// or in its words why it failed.
#pragma once

#include <QObject>
#include <QProcess>
#include <functional>

#include "gui/jobs/message.h"

namespace gui {

QString programBesideUs(const QString& name);  // it lies in the folder of meshwright-gui; its name alone where a shell finds that one, too

class ToolProcess : public QObject {
  Q_OBJECT
 public:
  explicit ToolProcess(QObject* parent = nullptr);
  ~ToolProcess() override;
  void setProgram(const QString& program) { program_ = program; }
  using Then = std::function<void(const QString& said)>;
  void start(const QStringList& words, Then then);  // then: it has succeeded; refused while another runs
  bool isRunning() const { return process_.state() != QProcess::NotRunning; }
  void cancel();  // what it would have written is not there; told as ended

 Q_SIGNALS:
  void progressed(const QString& line);  // what it said last
  void cancelled();
  void failed(const gui::Message& message);

 private:
  void end();

  QString program_;
  QProcess process_;
  QByteArray said_;
  bool cancelled_ = false;
  Then then_;
};

}  // namespace gui
