// What the window was used for last: kept while it changes, shown again at the next start.
#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QTabWidget>

#include "gui/main_window.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/turn_command.h"

namespace gui {
namespace {

QString workFile() {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  QDir().mkpath(folder);
  return folder + QStringLiteral("/work.json");
}

}  // namespace

void MainWindow::linkWork() {
  connect(question_, &QuestionPanel::changed, &work_, &Autosave::changed);
  connect(&session_, &Session::planChosen, &work_, &Autosave::changed);
  connect(&undo_, &QUndoStack::indexChanged, &work_, &Autosave::changed);
  connect(timeline_page_, &TimelinePage::viewChanged, &work_, &Autosave::changed);
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
  if (work.plans.empty() && session_.wanted()) work.plans = {*session_.wanted()};
  return work;
}

// What cannot be read is said and set aside: it may hold what somebody misses.
void MainWindow::restoreWork() {
  const QString path = workFile();
  if (!QFile::exists(path)) return beginWork();
  try {
    goOn(loadWork(path.toStdString()));
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

void MainWindow::beginWork() { work_.begin(workFile()); }
void MainWindow::keepWork() { work_.finish(); }

// A window that remembers nothing takes the place of this one. Runs go on, and are found again.
void MainWindow::startAfresh() {
  work_.forget();
  QFile::remove(workFile());
  auto* next = new MainWindow;
  next->setAttribute(Qt::WA_DeleteOnClose);
  next->restoreLast();
  next->restoreWork();
  next->setGeometry(geometry());
  next->show();
  close();
}

}  // namespace gui
