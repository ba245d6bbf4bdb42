// What one part of the window says, and what another does then. Declared in main_window.h.
#include <QStatusBar>
#include <utility>

#include "gui/main_window.h"
#include "gui/models/cells.h"
#include "gui/models/planning_tables.h"
#include "gui/pages/answers_page.h"
#include "gui/pages/cluster_page.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/context_line.h"
#include "gui/pages/knobs_panel.h"
#include "gui/pages/memory_page.h"
#include "gui/pages/message_bar.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/start_panel.h"
#include "gui/pages/trace_page.h"
#include "gui/pages/undo_keys.h"
#include "sim/units/at.h"

namespace gui {

void MainWindow::linkSession() {
  connect(&session_, &Session::searching, question_, &QuestionPanel::setRunning);
  connect(&session_, &Session::progressed, question_, &QuestionPanel::setProgress);
  connect(&session_, &Session::answered, this, [this](const SharedAnswer& answer) {
    message_->hide();
    pages_->plan()->setResult(*answer);
    if (answer->result.ranked.empty())
      tell({tr("No plan is feasible."), tr("the table below says of each family why, and what would help")});
    statusBar()->showMessage(searchText(*answer));
  });
  connect(&session_, &Session::planChosen, knobs_, &KnobsPanel::setPlan);
  connect(&session_, &Session::planChosen, pages_->plan(), &PlanPage::markPlan);
  connect(&session_, &Session::planReady, this, [this](const SharedPlan& now, const SharedPlan& before) {
    exports_.setPlan(now);
    pages_->setPlan(now, before);
    knobs_->showEffect(now, before);
    if (std::exchange(refused_, false)) message_->hide();
  });
  connect(&session_, &Session::planRefused, this, [this](const Message& why) {
    knobs_->showRefusal();
    tell(why);
    refused_ = true;
  });
  connect(&session_, &Session::failed, this, &MainWindow::tell);
  new UndoKeys(knobs_);
}

// What was opened, run or calibrated.
void MainWindow::linkFiles() {
  connect(&session_, &Session::runReady, this, [this](const SharedRun& run) {
    message_->hide();
    exports_.setRun(run);
    pages_->compare()->setRun(run);
    pages_->memory()->setRun(run);
    pages_->run()->noteRun(QString::fromStdString(run->folder));
    if (!session_.wanted()) {  // the other pages show it too
      question_->setQuestion(questionOf(run->simulated->plan, run->folder + "/plan.json", question_->question()));
      session_.show(run->simulated->plan, Session::Origin::Chosen);
    }
    pages_->setCurrentWidget(pages_->compare());
  });
  connect(&session_, &Session::calibrated, this, [this](const Calibration& calibration) {
    pages_->compare()->setRun(calibration.run);
    question_->setQuestion(calibration.next);
    statusBar()->showMessage(tr("Calibrated: the step is now predicted with an error of %1, before %2; planning again with %3.")
                                 .arg(signedShareCell(calibration.run->comparison.step.error()).text,
                                      signedShareCell(calibration.before).text, QString::fromStdString(calibration.next.cluster)));
  });
  connect(&session_, &Session::traceReady, this, [this](const SharedTrace& trace) {
    message_->hide();
    pages_->trace()->setTrace(trace);
    pages_->setCurrentWidget(pages_->trace());
  });
  connect(pages_->trace(), &TracePage::comparisonWanted, &session_, &Session::joinTrace);
  connect(&session_, &Session::traceJoined, this, [this](const SharedTraceStep& step, const SharedPlan& plan) {
    message_->hide();
    pages_->compare()->setTrace(step, plan);
    pages_->setCurrentWidget(pages_->compare());
  });
  connect(&session_, &Session::snapshotReady, this, [this](const SharedSnapshot& snapshot) {
    message_->hide();
    pages_->memory()->setSnapshot(snapshot);
    pages_->setCurrentWidget(pages_->memory());
  });
  connect(&session_, &Session::unpacked, this, &MainWindow::open);
  connect(&session_, &Session::filesChanged, this, [this](const QStringList& written, const QStringList& gone) {
    QStringList what;
    for (const QString& path : gone) what << tr("%1 is no longer there.").arg(path);
    for (const QString& path : written) what << tr("%1 was written to since it was opened.").arg(path);
    constexpr int kMost = 2;
    const auto more = what.size() - kMost;
    tell({what.mid(0, kMost).join(' ') + (more > 0 ? ' ' + tr("And %1 more.").arg(more) : QString()),
          tr("what was read of it stays on show; open it again to see what it holds now")});
  });
}

void MainWindow::linkPages() {
  connect(&documents_, &Documents::tracesWanted, &session_, &Session::openTrace);
  connect(&documents_, &Documents::snapshotWanted, &session_, &Session::openSnapshot);
  connect(&documents_, &Documents::bundleWanted, &session_, &Session::openBundle);
  connect(&documents_, &Documents::runWanted, &session_, &Session::openRun);
  connect(&documents_, &Documents::planOpened, this, &MainWindow::choosePlan);
  connect(&documents_, &Documents::answered, message_, &QWidget::hide);
  connect(&documents_, &Documents::said, this, &MainWindow::say);
  connect(&documents_, &Documents::told, this, &MainWindow::tell);
  connect(question_, &QuestionPanel::browseRequested, &documents_, &Documents::browse);
  connect(question_, &QuestionPanel::changed, this,
          [this](const PlanQuestion& asked) { exports_.nameAfter(QString::fromStdString(asked.model)); });
  connect(pages_->compare(), &ComparePage::runWanted, &documents_, &Documents::browseRun);
  connect(&exports_, &Exports::said, this, &MainWindow::say);
  connect(&exports_, &Exports::told, this, &MainWindow::tell);
  connect(&work_, &KeptWork::told, this, &MainWindow::tell);
  connect(question_, &QuestionPanel::planRequested, this, &MainWindow::plan);
  connect(question_, &QuestionPanel::cancelRequested, &session_, &Session::cancel);
  connect(pages_->plan(), &PlanPage::candidateChosen, this,
          [this](int position) { choosePlan(sim::at(pages_->plan()->candidates(), position).plan.plan); });
  connect(pages_->plan(), &PlanPage::runWanted, this, [this] { pages_->setCurrentWidget(pages_->run()); });
  connect(pages_->cluster(), &ClusterPage::rankOpened, this, [this](int rank) {
    pages_->setCurrentWidget(pages_->timeline());
    pages_->timeline()->showRank(sim::Rank(rank));
  });
  connect(pages_->answers(), &AnswersPage::planWanted, this, &MainWindow::edit);
  connect(knobs_, &KnobsPanel::edited, this, &MainWindow::edit);
  connect(knobs_, &KnobsPanel::failed, this, &MainWindow::tell);
  connect(pages_->compare(), &ComparePage::calibrationWanted, &session_, &Session::calibrate);
  connect(pages_->run(), &RunPage::failed, this, &MainWindow::tell);
  connect(pages_->run(), &RunPage::compareRequested, &session_, &Session::openRun);
  connect(pages_->run(), &RunPage::runOpened, this, &MainWindow::open);
}

void MainWindow::linkStart() {
  StartPanel* start = pages_->plan()->start();
  connect(start, &StartPanel::modelWanted, question_, &QuestionPanel::browseRequested);
  connect(start, &StartPanel::exampleChosen, this, &MainWindow::open);
  connect(start, &StartPanel::measureWanted, this, [this] { preparation_.measureMachine(); });
  connect(start, &StartPanel::planWanted, this, &MainWindow::plan);
  connect(pages_->run(), &RunPage::dataWanted, this,
          [this] { dialogs_.open(tr("Choose a text or a token file"), [this](const QString& path) { preparation_.useData(path); }); });
  connect(pages_->run(), &RunPage::exampleWanted, this, [this] { preparation_.useData(QString::fromStdString(exampleText())); });
  connect(&preparation_, &Preparation::said, this, &MainWindow::say);
  connect(preparation_.tools(), &ToolProcess::failed, this, &MainWindow::tell);
}

// Which plan, of what: above the pages, in the title, and on the way to a first plan.
void MainWindow::linkContext() {
  const auto ask = [this](const PlanQuestion& question) {
    context_->setQuestion(question);
    pages_->plan()->start()->setQuestion(question, context_->modelFacts());
  };
  connect(question_, &QuestionPanel::changed, this, ask);
  ask(question_->question());
  connect(context_, &ContextLine::titleChanged, this, &QWidget::setWindowTitle);
  connect(&session_, &Session::planChosen, context_, &ContextLine::setPlan);
  connect(&session_, &Session::answered, context_, [this](const SharedAnswer& answer) { context_->setLimit(answer->limit); });
  connect(&session_, &Session::runReady, context_,
          [this](const SharedRun& run) { context_->setRun(run->simulated->plan, QString::fromStdString(run->folder)); });
  connect(&session_, &Session::traceReady, context_, [this](const SharedTrace& trace) {
    QStringList paths;
    for (const TraceFile& file : trace->files) paths << QString::fromStdString(file.path);
    context_->setTraces(paths);
  });
  connect(pages_, &QTabWidget::currentChanged, context_, [this] {
    const QWidget* page = pages_->currentWidget();
    context_->showOf(page == pages_->trace()     ? ContextLine::Of::Trace
                     : page == pages_->compare() ? ContextLine::Of::Run
                                                 : ContextLine::Of::Plan);
  });
}

}  // namespace gui
