#include "gui/jobs/tool_process.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStandardPaths>
#include <utility>

namespace gui {

QString programBesideUs(const QString& name) {
  const QString beside = QCoreApplication::applicationDirPath() + '/' + name;
  return QStandardPaths::findExecutable(name) == beside ? name : beside;
}

ToolProcess::ToolProcess(QObject* parent) : QObject(parent), program_(programBesideUs(QStringLiteral("meshwright"))) {
  process_.setProcessChannelMode(QProcess::MergedChannels);
  connect(&process_, &QProcess::finished, this, &ToolProcess::end);
  connect(&process_, &QProcess::readyRead, this, [this] {
    said_ += process_.readAll();
    tell();
  });
  constexpr int kEvery = 500;  // milliseconds
  telling_.setInterval(kEvery);
  connect(&telling_, &QTimer::timeout, this, &ToolProcess::tell);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    telling_.stop();
    Q_EMIT ended();
    Q_EMIT failed({tr("%1 could not be started: %2").arg(program_, process_.errorString()), tr("build meshwright beside meshwright-gui")});
  });
}

void ToolProcess::cancel() {
  if (!isRunning()) return;
  cancelled_ = true;
  process_.terminate();
}

ToolProcess::~ToolProcess() {
  process_.disconnect(this);
  process_.terminate();
  process_.waitForFinished(2000);
}

void ToolProcess::tell() {
  if (doing_.isEmpty()) return;
  static const QRegularExpression counted(QStringLiteral("(\\d+) of (\\d+)"));
  const QByteArray line = said_.trimmed();
  const QRegularExpressionMatch found = counted.match(QString::fromUtf8(line.mid(line.lastIndexOf('\n') + 1)));
  const double share = found.captured(2).toDouble() > 0 ? found.captured(1).toDouble() / found.captured(2).toDouble() : 0;
  Q_EMIT progressed(share, pace_.left(share, sim::Seconds(1e-3 * static_cast<double>(began_.elapsed()))));
}

void ToolProcess::start(const QString& doing, const QStringList& words, Then then) {
  if (isRunning()) return Q_EMIT failed({tr("Another command is still running."), tr("wait until it has ended")});
  then_ = std::move(then);
  said_.clear();
  cancelled_ = false;
  doing_ = doing;
  pace_ = {};
  began_.start();
  if (!doing.isEmpty()) telling_.start();
  process_.start(program_, words);
}

void ToolProcess::end() {
  telling_.stop();
  Q_EMIT ended();
  said_ += process_.readAll();
  const QString said = QString::fromUtf8(said_);
  if (std::exchange(cancelled_, false)) return Q_EMIT cancelled();
  if (process_.exitStatus() == QProcess::NormalExit && process_.exitCode() == 0) return then_(said);
  const Message message = messageOf(said);
  Q_EMIT failed(message.problem.isEmpty() ? Message{tr("%1 ended without a word.").arg(program_), QString()} : message);
}

}  // namespace gui
