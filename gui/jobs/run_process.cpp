#include "gui/jobs/run_process.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QSettings>
#include <csignal>

#include "gui/jobs/tool_process.h"

namespace gui {
namespace {

constexpr int kLookEvery = 300;  // milliseconds

// Field 22 of /proc/<pid>/stat, counted behind the name in parentheses; empty: no such process, or it has ended.
QByteArray startOf(qint64 pid) {
  QFile stat(QStringLiteral("/proc/%1/stat").arg(pid));
  if (pid <= 0 || !stat.open(QIODevice::ReadOnly)) return {};
  const QByteArray text = stat.readAll();
  const QList<QByteArray> fields = text.mid(text.lastIndexOf(')') + 2).split(' ');
  return fields.size() > 19 && fields[0] != "Z" ? fields[19] : QByteArray();
}

// Beside the run folder, so that a window that is opened later finds the run: process id, start time, steps asked for.
QString processFile(const QString& folder) { return folder + QStringLiteral(".process"); }

QString inShell(const QString& word) {
  static const QRegularExpression plain(QStringLiteral("^[\\w@%+=:,./-]+$"));
  return plain.match(word).hasMatch() ? word : '\'' + QString(word).replace('\'', QStringLiteral("'\\''")) + '\'';
}

QString logFile(const QString& folder) { return folder + QStringLiteral(".log"); }

}  // namespace

RunProcess::RunProcess(QObject* parent) : QObject(parent), program_(programBesideUs(QStringLiteral("meshwright"))) {
  timer_.setInterval(kLookEvery);
  connect(&timer_, &QTimer::timeout, this, &RunProcess::look);
}

QString RunProcess::planFile(const RunRequest& request) const {
  return request.folder + (request.resume ? QStringLiteral("/plan.json") : QStringLiteral(".plan.json"));
}

QStringList RunProcess::command(const RunRequest& request) const {
  QStringList words = {program_,
                       QStringLiteral("run"),
                       planFile(request),
                       QStringLiteral("--data"),
                       request.data,
                       QStringLiteral("--steps"),
                       QString::number(request.steps)};
  if (request.resume) words << QStringLiteral("--resume");
  return words << QStringLiteral("-o") << request.folder;
}

QString RunProcess::commandText(const RunRequest& request) const {
  RunRequest shown = request;
  if (shown.data.isEmpty()) shown.data = QStringLiteral("tokens.bin");
  QStringList words = command(shown);
  for (QString& word : words) word = inShell(word);
  return words.join(' ');
}

QStringList RunProcess::scriptCommand(const sim::ParallelPlan& plan, const RunRequest& request, const QString& launcher) {
  if (!writePlan(plan, request)) return {};
  RunRequest named = request;
  if (named.data.isEmpty()) named.data = QStringLiteral("tokens.bin");  // to be put in
  return command(named).mid(1) << QStringLiteral("--dry-run") << QStringLiteral("--launcher") << launcher;
}

bool RunProcess::writePlan(const sim::ParallelPlan& plan, const RunRequest& request) {
  try {
    if (const std::vector<sim::Violation> refused = sim::why_not_runnable(plan); !refused.empty()) throw sim::InputError("", refused);
    QDir().mkpath(QFileInfo(request.folder).absolutePath());
    if (!request.resume) sim::save_plan(plan, planFile(request).toStdString());
  } catch (...) {
    Q_EMIT failed(messageOf(std::current_exception()));
    return false;
  }
  return true;
}

void RunProcess::start(const sim::ParallelPlan& plan, const RunRequest& request) {
  if (!writePlan(plan, request)) return;
  QProcess process;
  process.setProgram(program_);
  process.setArguments(command(request).mid(1));
  QFile::remove(logFile(request.folder));  // both append: neither writes over the other
  process.setStandardOutputFile(logFile(request.folder), QIODevice::Append);
  process.setStandardErrorFile(logFile(request.folder), QIODevice::Append);
  follow(request.folder);
  if (!process.startDetached(&pid_)) {
    Q_EMIT failed({tr("%1 could not be started: %2").arg(program_, process.errorString()),
                   tr("build meshwright beside meshwright-gui, or run the shown command in a terminal")});
    return;
  }
  started_ = startOf(pid_);
  asked_ = request.steps;
  QFile known(processFile(folder_));
  if (known.open(QIODevice::WriteOnly)) known.write(QByteArray::number(pid_) + ' ' + started_ + ' ' + QByteArray::number(asked_) + '\n');
  QSettings().setValue(QStringLiteral("run/folder"), QFileInfo(folder_).absoluteFilePath());  // where a later window looks
  was_alive_ = true;
  Q_EMIT changed();
}

void RunProcess::follow(const QString& folder) {
  folder_ = folder;
  pid_ = asked_ = 0;
  started_.clear();
  if (QFile known(processFile(folder)); known.open(QIODevice::ReadOnly)) {
    const QList<QByteArray> words = known.readAll().simplified().split(' ');
    pid_ = words[0].toLongLong();
    if (words.size() >= 2) started_ = words[1];
    if (words.size() >= 3) asked_ = words[2].toLongLong();
  }
  metrics_ = MetricsFollower(folder.toStdString());
  timer_.start();
  look();
}

void RunProcess::stop() {
  if (isAlive()) ::kill(static_cast<pid_t>(pid_), SIGINT);
}

bool RunProcess::isAlive() const { return !started_.isEmpty() && startOf(pid_) == started_; }

QString RunProcess::words() const {
  QFile log(logFile(folder_));
  return log.open(QIODevice::ReadOnly) ? QString::fromUtf8(log.readAll().right(8000)) : QString();
}

bool RunProcess::canResume() const {
  return !isAlive() && QFile::exists(folder_ + QStringLiteral("/plan.json")) && !QDir(folder_ + QStringLiteral("/checkpoints")).isEmpty();
}

void RunProcess::look() {
  const bool news = metrics_.look(), alive = isAlive();
  if (metrics_.hasMore()) QTimer::singleShot(0, this, &RunProcess::look);
  if (!news && alive == was_alive_) return;
  const bool ended = was_alive_ && !alive;
  was_alive_ = alive;
  Q_EMIT changed();
  if (ended) tellWhyItEnded();
}

// What `meshwright run` says last: where the run folder is, or the error with its remedy.
void RunProcess::tellWhyItEnded() {
  const QString said = words();
  if (said.contains(QStringLiteral("Run folder:"))) return;
  const Message message = messageOf(said);
  if (!message.problem.isEmpty()) return Q_EMIT failed(message);
  Q_EMIT failed(
      {tr("The run in %1 ended without a word.").arg(folder_), tr("resume it from its last checkpoint, or start it in a terminal")});
}

}  // namespace gui
