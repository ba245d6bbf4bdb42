#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTabWidget>

#include "gui/main_window.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/context_line.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/start_panel.h"
#include "gui/pages/trace_page.h"

namespace gui {

void MainWindow::linkStart() {
  StartPanel* start = plan_page_->start();
  connect(start, &StartPanel::modelWanted, question_, &QuestionPanel::browseRequested);
  connect(start, &StartPanel::exampleChosen, this, &MainWindow::open);
  connect(start, &StartPanel::measureWanted, this, &MainWindow::measureMachine);
  connect(start, &StartPanel::planWanted, this, &MainWindow::plan);
  connect(run_page_, &RunPage::dataWanted, this,
          [this] { choose(Dialog::Open, tr("Choose a text or a token file"), QString(), &MainWindow::useData); });
  connect(run_page_, &RunPage::exampleWanted, this, [this] { useData(QString::fromStdString(exampleText())); });
  connect(&tools_, &ToolProcess::progressed, this,
          [this](const QString& line) { statusBar()->showMessage(tr("%1 (Esc cancels)").arg(line)); });
  connect(&tools_, &ToolProcess::cancelled, this, [this] { statusBar()->showMessage(tr("Cancelled.")); });
  connect(&tools_, &ToolProcess::failed, this, [this](const Message& message) {
    statusBar()->clearMessage();
    tell(message);
  });
}

// Which plan, of what: above the pages, in the title, and on the way to a first plan.
void MainWindow::linkContext() {
  const auto ask = [this](const PlanQuestion& question) {
    context_->setQuestion(question);
    plan_page_->start()->setQuestion(question, context_->modelFacts());
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
    context_->showOf(page == trace_page_ ? ContextLine::Of::Trace : page == compare_page_ ? ContextLine::Of::Run : ContextLine::Of::Plan);
  });
}

// A question that a few cores can answer: what a GPU does in a second takes them an hour.
void MainWindow::measureMachine() {
  constexpr int kRanks = 2, kBatch = 8, kSequence = 128;
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation),
                profile = folder + QStringLiteral("/this_machine.json");
  QDir().mkpath(folder);
  statusBar()->showMessage(tr("Measuring this machine; this takes about a minute (Esc cancels)…"));
  tools_.start({QStringLiteral("measure"), QStringLiteral("--ranks"), QStringLiteral("1,%1").arg(kRanks), QStringLiteral("-o"), profile},
               [this, profile](const QString&) {
                 PlanQuestion asked = question_->question();
                 asked.cluster = profile.toStdString();
                 asked.devices = kRanks;
                 asked.global_batch = kBatch;
                 asked.sequence = kSequence;
                 asked.program = kWorker;
                 question_->setQuestion(asked);
                 statusBar()->showMessage(
                     tr("This machine is measured; batch and sequence are small now, as it can bear. Press Plan (Ctrl+Return)."));
               });
}

// Tokens as they are; of any other file its bytes are the tokens.
void MainWindow::useData(const QString& path) {
  if (path.endsWith(QStringLiteral(".bin"))) return run_page_->setData(path);
  const QFileInfo run(run_page_->request().folder);
  QDir().mkpath(run.absolutePath());
  const QString tokens = run.absoluteFilePath() + QStringLiteral(".tokens.bin");
  tools_.start({QStringLiteral("tokenize"), path, QStringLiteral("-o"), tokens},
               [this, tokens](const QString&) { run_page_->setData(tokens); });
}

}  // namespace gui
