#include "gui/main_window.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QMimeData>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QStatusBar>
#include <QTabWidget>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/command_palette.h"
#include "gui/import/run_bundle.h"
#include "gui/message_bar.h"
#include "gui/models/cells.h"
#include "gui/models/planning_tables.h"
#include "gui/pages/answers_page.h"
#include "gui/pages/cluster_page.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/context_line.h"
#include "gui/pages/knobs_panel.h"
#include "gui/pages/memory_page.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/trace_page.h"
#include "gui/share.h"
#include "gui/turn_command.h"
#include "gui/undo_keys.h"
#include "gui/views/theme.h"
#include "gui/views/timeline_view.h"
#include "sim/model/config_notes.h"

namespace gui {
namespace {

constexpr int kStateVersion = 1;

// A folder that is no run stands for what lies in it: traces of all ranks, or a model.
QStringList filesOf(const QStringList& paths) {
  QStringList files;
  for (const QString& path : paths) {
    const QDir folder(path);
    const bool is_run = !QFileInfo(path).isDir() || folder.exists(QStringLiteral("plan.json"));
    const QStringList inside =
        is_run ? QStringList() : folder.entryList({QStringLiteral("*.json"), QStringLiteral("*.json.gz")}, QDir::Files, QDir::Name);
    if (inside.isEmpty())
      files << path;
    else if (inside.contains(QStringLiteral("config.json")))
      files << folder.filePath(QStringLiteral("config.json"));
    else
      for (const QString& file : inside) files << folder.filePath(file);
  }
  return files;
}

}  // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      writing_(this),
      keeping_(this),
      commands_(new CommandPalette(actions_.all(), this)),
      pages_(new QTabWidget(this)),
      message_(new MessageBar(this)),
      context_(new ContextLine(this)),
      question_(new QuestionPanel(this)),
      knobs_(new KnobsPanel(this)),
      plan_page_(new PlanPage(this)),
      timeline_page_(new TimelinePage(this)),
      memory_page_(new MemoryPage(this)),
      cluster_page_(new ClusterPage(this)),
      compare_page_(new ComparePage(this)),
      run_page_(new RunPage(this)),
      trace_page_(new TracePage(this)),
      answers_page_(new AnswersPage(this)) {
  build();
  linkSession();
  linkFiles();
  linkPages();
  linkStart();
  linkContext();
  linkWork();
  addFileActions();
  addEditActions();
  addRecipeActions();
  run_page_->addActions(actions_);
  addViewActions();
  addContextMenus();
  keepLettersForMenus();
}

void MainWindow::build() {
  setWindowTitle(context_->title());
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  resize(1440, 900);
  pages_->setDocumentMode(true);
  pages_->addTab(plan_page_, tr("Plan"));
  pages_->addTab(timeline_page_, tr("Timeline"));
  pages_->addTab(memory_page_, tr("Memory"));
  pages_->addTab(cluster_page_, tr("Cluster"));
  pages_->addTab(compare_page_, tr("Compare"));
  pages_->addTab(run_page_, tr("Run"));
  pages_->addTab(trace_page_, tr("Trace"));
  pages_->addTab(answers_page_, tr("Answers"));
  auto* center = new QWidget(this);
  auto* column = new QVBoxLayout(center);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(message_);
  column->addWidget(context_);
  column->addWidget(pages_, 1);
  setCentralWidget(center);
  docks_ << addDock(tr("Question"), question_, question_->footer()) << addDock(tr("Edit the plan"), knobs_);
  statusBar()->showMessage(tr("Open a model (Ctrl+O) or drop a config.json here, then press Plan."));
}

// The footer does not scroll: it is always in sight.
QDockWidget* MainWindow::addDock(const QString& title, QWidget* content, QWidget* footer) {
  auto* dock = new QDockWidget(title, this);
  dock->setObjectName(title);
  auto* area = new QScrollArea(dock);  // on a low screen nothing is cut off
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setFocusPolicy(Qt::NoFocus);  // it scrolls to what has the focus
  area->setWidget(content);
  const int bar = style()->pixelMetric(QStyle::PM_ScrollBarExtent);  // it takes no room from the fields
  area->setMinimumWidth(std::max(256, content->minimumSizeHint().width() + bar));
  auto* all = new QWidget(dock);
  auto* column = new QVBoxLayout(all);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(area, 1);
  if (footer != nullptr) column->addWidget(footer);
  dock->setWidget(all);
  addDockWidget(Qt::LeftDockWidgetArea, dock);
  return dock;
}

void MainWindow::linkSession() {
  connect(&session_, &Session::searching, question_, &QuestionPanel::setRunning);
  connect(&session_, &Session::progressed, question_, &QuestionPanel::setProgress);
  connect(&session_, &Session::progressed, this, [this](const planner::SearchProgress& now, sim::Seconds since) {
    const double share = now.all > 0 ? static_cast<double>(now.done) / static_cast<double>(now.all) : 0;
    statusBar()->showMessage(tr("Planning: %1 of the candidates%2 (Esc cancels)").arg(shareCell(share).text, leftText(share, since)));
  });
  connect(&session_, &Session::searching, statusBar(), [this](bool running) {
    if (!running) statusBar()->clearMessage();
  });
  connect(&session_, &Session::answered, this, [this](const SharedAnswer& answer) {
    message_->hide();
    plan_page_->setResult(answer->result, answer->limit);
    keepAnswer(answer);
    if (answer->result.ranked.empty())
      tell({tr("No plan is feasible."), tr("the table below says of each family why, and what would help")});
    statusBar()->showMessage(searchText(answer->result));
  });
  connect(&session_, &Session::planChosen, knobs_, &KnobsPanel::setPlan);
  connect(&session_, &Session::planChosen, plan_page_, &PlanPage::markPlan);
  connect(&session_, &Session::planReady, this, [this](const SharedPlan& now, const SharedPlan& before) {
    timeline_page_->setPlan(now, before);
    memory_page_->setPlan(now);
    cluster_page_->setPlan(now);
    answers_page_->setPlan(now);
    run_page_->setPlan(withPredictions(*now));
    compare_page_->setPlan(now);
    knobs_->showEffect(now, before);
    if (std::exchange(refused_, false)) message_->hide();
  });
  connect(&session_, &Session::unfolding, this,
          [this](int ranks) { statusBar()->showMessage(ranks > 0 ? tr("Simulating %L1 ranks one by one…").arg(ranks) : QString()); });
  connect(&session_, &Session::planRefused, this, [this](const Message& why) {
    knobs_->showRefusal();
    tell(why);
    refused_ = true;
  });
  connect(&session_, &Session::failed, this, &MainWindow::tell);
  for (BackgroundJob* job : {&writing_, &keeping_}) connect(job, &BackgroundJob::failed, this, &MainWindow::tell);
  new UndoKeys(knobs_);
}

// What was opened, run or calibrated.
void MainWindow::linkFiles() {
  connect(&session_, &Session::runReady, this, [this](const SharedRun& run) {
    message_->hide();
    statusBar()->clearMessage();
    compare_page_->setRun(run);
    memory_page_->setRun(run);
    run_page_->noteRun(QString::fromStdString(run->folder));
    if (!session_.wanted()) {  // the other pages show it too
      question_->setQuestion(questionOf(run->simulated->plan, run->folder + "/plan.json", question_->question()));
      session_.show(run->simulated->plan, Session::Origin::Chosen);
    }
    pages_->setCurrentWidget(compare_page_);
  });
  connect(&session_, &Session::calibrated, this, [this](const Calibration& calibration) {
    compare_page_->setRun(calibration.run);
    question_->setQuestion(calibration.next);
    statusBar()->showMessage(tr("Calibrated: the step is now predicted with an error of %1, before %2; planning again with %3.")
                                 .arg(signedShareCell(calibration.run->comparison.step.error()).text,
                                      signedShareCell(calibration.before).text, QString::fromStdString(calibration.next.cluster)));
  });
  connect(&session_, &Session::opening, this, [this](double share, sim::Seconds since) {
    statusBar()->showMessage(tr("Opening: %1%2 (Esc cancels)").arg(shareCell(share).text, leftText(share, since)));
  });
  connect(&session_, &Session::traceReady, this, [this](const SharedTrace& trace) {
    message_->hide();
    statusBar()->clearMessage();
    trace_page_->setTrace(trace);
    pages_->setCurrentWidget(trace_page_);
  });
  connect(&session_, &Session::snapshotReady, this, [this](const SharedSnapshot& snapshot) {
    message_->hide();
    statusBar()->clearMessage();
    memory_page_->setSnapshot(snapshot);
    pages_->setCurrentWidget(memory_page_);
  });
  connect(&session_, &Session::unpacked, this, &MainWindow::open);
  connect(&session_, &Session::fileChanged, this, [this](const QString& path, bool is_gone) {
    tell({is_gone ? tr("%1 is no longer there.").arg(path) : tr("%1 was written to since it was opened.").arg(path),
          tr("what was read of it stays on show; open it again to see what it holds now")});
  });
}

void MainWindow::linkPages() {
  connect(question_, &QuestionPanel::planRequested, this, &MainWindow::plan);
  connect(question_, &QuestionPanel::cancelRequested, &session_, &Session::cancel);
  connect(plan_page_, &PlanPage::candidateChosen, this,
          [this](int position) { choosePlan(plan_page_->candidates()[static_cast<std::size_t>(position)].plan.plan); });
  connect(plan_page_, &PlanPage::runWanted, this, [this] { pages_->setCurrentWidget(run_page_); });
  connect(cluster_page_, &ClusterPage::rankOpened, this, [this](int rank) {
    pages_->setCurrentWidget(timeline_page_);
    timeline_page_->showRank(sim::Rank(rank));
  });
  connect(answers_page_, &AnswersPage::planWanted, this, &MainWindow::edit);
  connect(knobs_, &KnobsPanel::edited, this, &MainWindow::edit);
  connect(knobs_, &KnobsPanel::failed, this, &MainWindow::tell);
  connect(compare_page_, &ComparePage::calibrationWanted, &session_, &Session::calibrate);
  connect(run_page_, &RunPage::failed, this, &MainWindow::tell);
  connect(run_page_, &RunPage::compareRequested, &session_, &Session::openRun);
  connect(run_page_, &RunPage::runOpened, this, &MainWindow::open);
}

void MainWindow::edit(const sim::ParallelPlan& plan) {
  if (session_.wanted()) undo_.push(new TurnCommand(session_, *session_.wanted(), plan));
}

void MainWindow::choosePlan(const sim::ParallelPlan& plan) {
  if (!session_.wanted()) return session_.show(plan, Session::Origin::Chosen);
  if (sim::plan_hash(*session_.wanted()) == sim::plan_hash(plan)) return;
  undo_.push(new TurnCommand(session_, *session_.wanted(), plan, TurnCommand::Turned::Now, Session::Origin::Chosen));
}

void MainWindow::tell(const Message& message) { message_->tell(message); }

void MainWindow::attempt(const std::function<void()>& action) {
  try {
    action();
  } catch (...) {
    tell(messageOf(std::current_exception()));
  }
}

void MainWindow::plan() {
  pages_->setCurrentWidget(plan_page_);  // its answer appears there
  session_.ask(question_->question());
}

void MainWindow::openAll(const QStringList& paths) {
  attempt([&] {
    std::vector<std::string> traces;
    for (const QString& path : paths) remember(path);
    for (const QString& path : filesOf(paths)) {
      const FileKind kind = kindOfFile(path.toStdString());
      if (kind == FileKind::Trace)
        traces.push_back(path.toStdString());
      else
        openOne(path, kind);
    }
    if (!traces.empty()) session_.openTrace(traces);
  });
}

void MainWindow::openOne(const QString& path, FileKind kind) {
  PlanQuestion asked = question_->question();
  switch (kind) {
    case FileKind::Trace: return session_.openTrace({path.toStdString()});
    case FileKind::Bundle: return session_.openBundle(path);
    case FileKind::View:
      if (pages_->currentWidget() == trace_page_) return trace_page_->setViewState(loadView(path.toStdString()));
      timeline_page_->setViewState(loadView(path.toStdString()));
      return pages_->setCurrentWidget(timeline_page_);
    case FileKind::Snapshot: return session_.openSnapshot(path.toStdString());
    case FileKind::RunFolder:
      run_page_->follow(path);
      if (!run_page_->process()->isAlive()) return session_.openRun(path);
      return pages_->setCurrentWidget(run_page_);  // there is nothing to compare before it has ended
    case FileKind::Plan: return openPlan(path);
    case FileKind::Recipe: return importPlan(path);
    case FileKind::Cluster:
      asked.devices = devicesOf(path.toStdString(), asked.devices);
      asked.cluster = path.toStdString();
      break;
    case FileKind::Model:
      asked.model = path.toStdString();
      asked.sequence = sequenceFor(sim::load_model_config(asked.model), asked.sequence);
      break;
  }
  question_->setQuestion(asked);
  message_->hide();
  if (kind == FileKind::Model) tellNotes(sim::config_notes(path.toStdString()));
  const QString opened =
      kind == FileKind::Model && !context_->modelFacts().isEmpty() ? context_->modelFacts() : tr("%1 is opened").arg(path);
  statusBar()->showMessage(tr("%1. Press Plan (Ctrl+Return).").arg(opened));
}

// The question is from now on the one that it answers.
void MainWindow::openPlan(const QString& path) {
  const sim::ParallelPlan plan = sim::load_plan(path.toStdString());
  question_->setQuestion(questionOf(plan, path.toStdString(), question_->question()));
  context_->setLimit({});
  choosePlan(plan);
  pages_->setCurrentWidget(timeline_page_);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  event->acceptProposedAction();
  QStringList paths;
  for (const QUrl& url : event->mimeData()->urls()) paths << url.toLocalFile();
  openAll(paths);
}

bool MainWindow::isWorking() const {
  const QList<BackgroundJob*> jobs = findChildren<BackgroundJob*>();
  return session_.isWorking() || std::any_of(jobs.begin(), jobs.end(), [](const BackgroundJob* job) { return job->isRunning(); });
}

void MainWindow::pictureWhenReady(const QString& path) {
  constexpr int kLook = 100;  // milliseconds
  QTimer::singleShot(kLook, this, [this, path] {
    if (isWorking()) return pictureWhenReady(path);
    QApplication::exit(grab().save(path) ? 0 : 1);
  });
}

// Millions of slices take seconds: beside the window's thread.
void MainWindow::writeBeside(const QString& path, std::function<void()> write) {
  writing_.start([this, path, write = std::move(write)](const std::atomic<bool>&) -> BackgroundJob::Finish {
    write();
    return [this, path] { tellWritten(path); };
  });
}

void MainWindow::exportTimeline(const QString& path) {
  std::vector<ComparedSide> steps;
  if (const SharedComparison& compared = compare_page_->comparison(); compared && pages_->currentWidget() == compare_page_)
    steps = {compared->left, compared->right};
  else if (session_.plan())
    steps = {simulatedSide(session_.plan())}, steps.front().name.insert(0, "simulated: ");
  else
    return tell({tr("There is no timeline to write."), tr("choose a plan on the Plan page first")});
  writeBeside(path, [steps, path] { saveTimelines(steps, path); });
}

void MainWindow::exportMemory(const QString& path) {
  if (!session_.plan()) return tell({tr("There is no memory to write."), tr("choose a plan on the Plan page first")});
  writeBeside(path, [plan = session_.plan(), path] { saveMemory(*plan, path); });
}

void MainWindow::exportBundle(const QString& path) {
  attempt([&] {
    if (!session_.run()) return tell({tr("There is no run to export."), tr("open a run folder first")});
    writeBundle(session_.run()->folder, path.toStdString());
  });
}

void MainWindow::choose(Dialog kind, const QString& title, const QString& filter, const std::function<void(const QString&)>& then) {
  const QString kept = kind == Dialog::Save ? QStringLiteral("folder/save") : QStringLiteral("folder/open");
  auto* dialog = new QFileDialog(this, title, QSettings().value(kept).toString(), filter);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(kind == Dialog::Folder  ? QFileDialog::Directory
                      : kind == Dialog::Files ? QFileDialog::ExistingFiles
                      : kind == Dialog::Open  ? QFileDialog::ExistingFile
                                              : QFileDialog::AnyFile);
  dialog->setAcceptMode(kind == Dialog::Save ? QFileDialog::AcceptSave : QFileDialog::AcceptOpen);
  static const QRegularExpression ending(QStringLiteral("\\*\\.(\\w+)"));  // of a name that is typed without one
  if (kind == Dialog::Save) {
    dialog->setDefaultSuffix(ending.match(filter).captured(1));
    dialog->selectFile(suggestedName(ending.match(filter).captured(1)));
  }
  connect(dialog, &QFileDialog::fileSelected, this,
          [kept](const QString& path) { QSettings().setValue(kept, QFileInfo(path).absolutePath()); });
  if (kind == Dialog::Files)
    connect(dialog, &QFileDialog::filesSelected, this, &MainWindow::openAll);
  else
    connect(dialog, &QFileDialog::fileSelected, this, then);
  dialog->open();
}

void MainWindow::setColors(const QPalette& palette) {
  QApplication::setPalette(palette);
  for (QAbstractItemView* view : findChildren<QAbstractItemView*>()) {  // they and their scroll bars do not follow by themselves
    view->setPalette(palette);
    for (QScrollBar* bar : view->findChildren<QScrollBar*>()) bar->setPalette(palette);
  }
}

void MainWindow::restoreLast() {
  keeps_state_ = true;
  const QSettings settings;
  restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
  QMainWindow::restoreState(settings.value(QStringLiteral("window/docks")).toByteArray(), kStateVersion);
  const QString name = settings.value(QStringLiteral("window/theme")).toString();
  if (QAction* theme = name.isEmpty() ? nullptr : findChild<QAction*>(name)) theme->setChecked(true);
  findRunAgain(settings.value(QStringLiteral("run/folder")).toString());
}

// The run that an earlier window started and that goes on.
void MainWindow::findRunAgain(const QString& folder) {
  if (folder.isEmpty()) return;
  RunProcess known;
  known.follow(folder);
  if (!known.isAlive()) return;
  run_page_->follow(folder);
  pages_->setCurrentWidget(run_page_);
  statusBar()->showMessage(tr("The run in %1 is still going on.").arg(folder));
}

void MainWindow::keepState() const {
  QSettings settings;
  settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
  settings.setValue(QStringLiteral("window/docks"), saveState(kStateVersion));
}

void MainWindow::cancelWork() {
  session_.cancel();
  tools_.cancel();
  answers_page_->cancel();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return cancelWork();
  QMainWindow::keyPressEvent(event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (keeps_state_) keepState();
  keepWork();
  QMainWindow::closeEvent(event);
}

}  // namespace gui
