// What the window was used for last: kept while it changes, shown again at the next start.
#include <QAction>
#include <QDir>
#include <QFile>
#include <QMessageBox>
#include <QPushButton>
#include <QStandardPaths>
#include <QTabWidget>

#include "gui/core/last_answer.h"
#include "gui/main_window.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/turn_command.h"
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

void MainWindow::linkWork() {
  connect(question_, &QuestionPanel::changed, &work_, &Autosave::changed);
  connect(&session_, &Session::planChosen, &work_, &Autosave::changed);
  connect(&undo_, &QUndoStack::indexChanged, &work_, &Autosave::changed);
  connect(timeline_page_, &TimelinePage::viewChanged, &work_, &Autosave::changed);
  connect(run_page_, &RunPage::formChanged, &work_, &Autosave::changed);
  connect(&work_, &Autosave::failed, this, &MainWindow::tell);
}

LastWork MainWindow::work() const {
  LastWork work{.question = question_->question(), .plans = {}, .shown = 0, .view = timeline_page_->viewState()};
  for (int at = 0; at < undo_.count(); ++at) {
    const auto* turn = static_cast<const TurnCommand*>(undo_.command(at));
    if (at == 0) work.plans.push_back(turn->before());
    work.plans.push_back(turn->after());
  }
  work.shown = static_cast<std::size_t>(undo_.index());
  work.notes = timeline_page_->otherNotes();
  const RunRequest run = run_page_->request();
  work.run = {.data = run.data.toStdString(), .folder = run.folder.toStdString(), .steps = run.steps};
  work.every_rank = session_.showsEveryRank();
  work.dense = timeline_page_->view()->isDense();
  if (work.plans.empty() && session_.wanted()) work.plans = {*session_.wanted()};
  return work;
}

// What cannot be read is said and set aside: it may hold what somebody misses.
void MainWindow::restoreWork() {
  const QString path = workFile();
  if (!QFile::exists(path)) return beginWork();
  try {
    goOn(loadWork(path.toStdString()));
    restoreAnswer();
  } catch (...) {
    const QString aside = path + QStringLiteral(".broken");
    QFile::remove(aside);
    QFile::rename(path, aside);
    const Message why = messageOf(std::current_exception());
    tell({tr("The work of the last window could not be restored: %1").arg(why.problem),
          tr("it is set aside as %1; this window starts afresh").arg(aside)});
    beginWork();
  }
}

void MainWindow::goOn(const LastWork& work) {
  question_->setQuestion(work.question);
  timeline_page_->setOtherNotes(work.notes);
  findChild<QAction*>(QStringLiteral("every_rank"))->setChecked(work.every_rank);
  findChild<QAction*>(QStringLiteral("dense"))->setChecked(work.dense);
  if (work.run.steps > 0 && !run_page_->process()->isAlive()) {
    run_page_->setRequest({.data = QString::fromStdString(work.run.data),
                           .folder = QString::fromStdString(work.run.folder),
                           .steps = static_cast<int>(work.run.steps)});
    if (QFile::exists(run_page_->request().folder + QStringLiteral("/metrics.ndjson"))) run_page_->follow(run_page_->request().folder);
  }
  if (work.plans.empty()) {
    timeline_page_->setViewState(work.view);
    return beginWork();
  }
  for (std::size_t at = 0; at + 1 < work.plans.size(); ++at)
    undo_.push(new TurnCommand(session_, work.plans[at], work.plans[at + 1], TurnCommand::Turned::Already));
  undo_.setIndex(static_cast<int>(work.shown));
  auto* const once = new QObject(this);  // the part of the timeline that was looked at is known when there is one
  connect(&session_, &Session::planReady, once, [this, once, view = work.view] {
    once->deleteLater();
    timeline_page_->setViewState(view);
    beginWork();
  });
  session_.show(work.plans[work.shown], Session::Origin::Chosen);
  if (pages_->currentIndex() == 0) pages_->setCurrentWidget(timeline_page_);  // else a run that goes on is shown
}

// The plans of the last search, without searching again.
void MainWindow::restoreAnswer() {
  if (!QFile::exists(answerFile())) return;
  keeping_.start([this, path = answerFile().toStdString()](const std::atomic<bool>&) -> BackgroundJob::Finish {
    const LastAnswer answer = loadAnswer(path);
    return [this, answer] {
      if (!plan_page_->candidates().empty()) return;  // there is a newer one by now
      plan_page_->setResult(answer.result, answer.limit, PlanPage::First::Listed);
      if (session_.wanted()) plan_page_->markPlan(*session_.wanted());
    };
  });
}

void MainWindow::keepAnswer(const SharedAnswer& answer) {
  if (!keeps_work_) return;
  keeping_.start([answer, path = answerFile().toStdString()](const std::atomic<bool>&) -> BackgroundJob::Finish {
    saveAnswer({answer->result, answer->limit}, path);
    return {};
  });
}

void MainWindow::beginWork() {
  work_.begin(workFile());
  if (!std::exchange(keeps_work_, true)) run_page_->keepHistory(runsFile());
}
void MainWindow::keepWork() { work_.finish(); }

void MainWindow::askToStartAfresh() {
  auto* asked = new QMessageBox(QMessageBox::Question, tr("Start afresh"), tr("Start afresh?"), QMessageBox::Cancel, this);
  asked->setInformativeText(tr("The question, the plans with their undo and the view are forgotten. Runs go on, and their history stays."));
  const QPushButton* const yes = asked->addButton(tr("Start &afresh"), QMessageBox::AcceptRole);
  asked->setDefaultButton(QMessageBox::Cancel);
  asked->setAttribute(Qt::WA_DeleteOnClose);
  connect(yes, &QPushButton::clicked, this, &MainWindow::startAfresh, Qt::QueuedConnection);
  asked->open();
}

// A window that remembers nothing takes the place of this one. Runs go on, and are found again.
void MainWindow::startAfresh() {
  work_.forget();
  for (const QString& kept : {workFile(), answerFile()}) QFile::remove(kept);
  auto* next = new MainWindow;
  next->setAttribute(Qt::WA_DeleteOnClose);
  next->restoreLast();
  next->restoreWork();
  next->setGeometry(geometry());
  next->show();
  close();
}

}  // namespace gui
