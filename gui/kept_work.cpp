#include "gui/kept_work.h"

#include <QAction>
#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QUndoStack>

#include "gui/core/last_answer.h"
#include "gui/pages/page_stack.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/turn_command.h"
#include "gui/views/timeline_view.h"

namespace gui {
namespace {

QString keptFile(const QString& name) {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  QDir().mkpath(folder);
  return folder + '/' + name;
}
QString workFile() { return keptFile(QStringLiteral("work.json")); }
QString answerFile() { return keptFile(QStringLiteral("answer.json")); }
QString runsFile() { return keptFile(QStringLiteral("runs.json")); }

}  // namespace

KeptWork::KeptWork(const Of& of, QObject* parent) : QObject(parent), of_(of), keeping_(this) {
  connect(&of_.question, &QuestionPanel::changed, &autosave_, &Autosave::changed);
  connect(&of_.session, &Session::planChosen, &autosave_, &Autosave::changed);
  connect(&of_.session, &Session::answered, this, &KeptWork::keepAnswer);
  connect(&of_.undo, &QUndoStack::indexChanged, &autosave_, &Autosave::changed);
  connect(of_.pages.timeline(), &TimelinePage::viewChanged, &autosave_, &Autosave::changed);
  connect(of_.pages.run(), &RunPage::formChanged, &autosave_, &Autosave::changed);
  for (QAction* kept : {of_.timeline.every_rank, of_.timeline.dense}) connect(kept, &QAction::toggled, &autosave_, &Autosave::changed);
  connect(&autosave_, &Autosave::failed, this, &KeptWork::told);
  connect(&keeping_, &BackgroundJob::failed, this, &KeptWork::told);
}

LastWork KeptWork::work() const {
  LastWork work{.question = of_.question.question(), .plans = {}, .shown = 0, .view = of_.pages.timeline()->viewState()};
  for (int at = 0; at < of_.undo.count(); ++at) {
    const auto* turn = static_cast<const TurnCommand*>(of_.undo.command(at));
    if (at == 0) work.plans.push_back(turn->before());
    work.plans.push_back(turn->after());
  }
  work.shown = static_cast<std::size_t>(of_.undo.index());
  work.notes = of_.pages.timeline()->otherNotes();
  const RunRequest run = of_.pages.run()->request();
  work.run = {.data = run.data.toStdString(), .folder = run.folder.toStdString(), .steps = run.steps};
  work.every_rank = of_.session.showsEveryRank();
  work.dense = of_.pages.timeline()->view()->isDense();
  if (work.plans.empty() && of_.session.wanted()) work.plans = {*of_.session.wanted()};
  return work;
}

// What cannot be read is said and set aside: it may hold what somebody misses.
void KeptWork::restore() {
  const QString path = workFile();
  if (!QFile::exists(path)) return begin();
  try {
    goOn(loadWork(path.toStdString()));
    restoreAnswer();
  } catch (...) {
    const QString aside = path + QStringLiteral(".broken");
    QFile::remove(aside);
    QFile::rename(path, aside);
    const Message why = messageOf(std::current_exception());
    Q_EMIT told({tr("The work of the last window could not be restored: %1").arg(why.problem),
                 tr("it is set aside as %1; this window starts afresh").arg(aside)});
    begin();
  }
}

void KeptWork::goOn(const LastWork& work) {
  of_.question.setQuestion(work.question);
  of_.pages.timeline()->setOtherNotes(work.notes);
  of_.timeline.every_rank->setChecked(work.every_rank);
  of_.timeline.dense->setChecked(work.dense);
  if (work.run.steps > 0 && !of_.pages.run()->process()->isAlive()) {
    of_.pages.run()->setRequest({.data = QString::fromStdString(work.run.data),
                                 .folder = QString::fromStdString(work.run.folder),
                                 .steps = static_cast<int>(work.run.steps)});
    if (QFile::exists(of_.pages.run()->request().folder + QStringLiteral("/metrics.ndjson")))
      of_.pages.run()->follow(of_.pages.run()->request().folder);
  }
  if (work.plans.empty()) {
    of_.pages.timeline()->setViewState(work.view);
    return begin();
  }
  for (std::size_t at = 0; at + 1 < work.plans.size(); ++at)
    of_.undo.push(of_.session.turn(work.plans[at], work.plans[at + 1], Session::Origin::Turned, TurnCommand::Turned::Already).release());
  of_.undo.setIndex(static_cast<int>(work.shown));
  auto* const once = new QObject(this);  // the part of the timeline that was looked at is known when there is one
  connect(&of_.session, &Session::planReady, once, [this, once, view = work.view] {
    once->deleteLater();
    of_.pages.timeline()->setViewState(view);
    begin();
  });
  of_.session.show(work.plans[work.shown], Session::Origin::Chosen);
  if (of_.pages.currentIndex() == 0) of_.pages.setCurrentWidget(of_.pages.timeline());  // else a run that goes on is shown
}

// The plans of the last search, without searching again.
void KeptWork::restoreAnswer() {
  if (!QFile::exists(answerFile())) return;
  keeping_.start([this, path = answerFile().toStdString()](Progress&) -> BackgroundJob::Finish {
    const PlanAnswer answer = loadAnswer(path);
    return [this, answer] {
      if (!of_.pages.plan()->candidates().empty()) return;  // there is a newer one by now
      of_.pages.plan()->setResult(answer, PlanPage::First::Listed);
      if (of_.session.wanted()) of_.pages.plan()->markPlan(*of_.session.wanted());
    };
  });
}

void KeptWork::keepAnswer(const SharedAnswer& answer) {
  if (!keeps_) return;
  keeping_.start([answer, path = answerFile().toStdString()](Progress&) -> BackgroundJob::Finish {
    saveAnswer(*answer, path);
    return {};
  });
}

void KeptWork::begin() {
  autosave_.begin(workFile());
  if (!std::exchange(keeps_, true)) of_.pages.run()->keepHistory(runsFile());
}

void KeptWork::forget() {
  autosave_.forget();
  for (const QString& kept : {workFile(), answerFile()}) QFile::remove(kept);
}

}  // namespace gui
