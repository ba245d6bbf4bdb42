#include "gui/main_window.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QSettings>
#include <QStatusBar>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/models/cells.h"
#include "gui/models/planning_tables.h"
#include "gui/pages/answers_page.h"
#include "gui/pages/cluster_page.h"
#include "gui/pages/command_palette.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/context_line.h"
#include "gui/pages/key_list.h"
#include "gui/pages/knobs_panel.h"
#include "gui/pages/memory_page.h"
#include "gui/pages/menu_letters.h"
#include "gui/pages/message_bar.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/scroll_dock.h"
#include "gui/pages/start_panel.h"
#include "gui/pages/trace_page.h"
#include "gui/pages/undo_keys.h"

namespace gui {
namespace {

constexpr int kStateVersion = 1;

}  // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      commands_(new CommandPalette(actions_.all(), this)),
      message_(new MessageBar(this)),
      context_(new ContextLine(this)),
      question_(new QuestionPanel(this)),
      knobs_(new KnobsPanel(this)),
      pages_(new PageStack(this)),
      documents_({*pages_, *question_, *context_}, dialogs_, this),
      exports_(*pages_, dialogs_, this),
      preparation_({*question_, *pages_->run()}, this),
      work_({session_, *pages_, *question_, undo_, addActions()}, this) {
  linkSession();
  linkFiles();
  linkPages();
  linkStart();
  linkContext();
  for (BackgroundJob* job : findChildren<BackgroundJob*>()) waiting_.follow(job);
  waiting_.follow(preparation_.tools());
  exports_.standInContextMenus(*this);
  keepLettersForMenus(*this);
}

void MainWindow::build() {
  setWindowTitle(context_->title());
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  resize(1440, 900);
  auto* center = new QWidget(this);
  auto* column = new QVBoxLayout(center);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(message_);
  column->addWidget(context_);
  auto* area = new QScrollArea(center);  // a page that is larger than a small screen scrolls
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setFocusPolicy(Qt::NoFocus);
  area->setWidget(pages_);
  column->addWidget(area, 1);
  setCentralWidget(center);
  docks_ << new ScrollDock(tr("Question"), question_, question_->footer(), this)
         << new ScrollDock(tr("Edit the plan"), knobs_, nullptr, this);
  for (QDockWidget* dock : docks_) addDockWidget(Qt::LeftDockWidgetArea, dock);
  connect(statusBar(), &QStatusBar::messageChanged, statusBar(), &QWidget::setToolTip);  // a long path is cut on a small screen
  say(tr("Open a model (Ctrl+O) or drop a config.json here, then press Plan."));
}

// Menu by menu. Returns those of the timeline, which are kept from window to window.
TimelineActions MainWindow::addActions() {
  build();
  documents_.addActions(actions_);
  exports_.addActions(actions_);
  actions_.add({tr("&File"), tr("Start &afresh…"), tr("Ctrl+Shift+N")}, [this] { askToStartAfresh(); });
  actions_.add({tr("&File"), tr("&Quit"), tr("Ctrl+Q")}, [this] { close(); });
  actions_.addExisting({tr("&Edit"), QString(), QKeySequence::Undo}, undo_.createUndoAction(this, tr("&Undo")));
  actions_.addExisting({tr("&Edit"), QString(), tr("Ctrl+Shift+Z")}, undo_.createRedoAction(this, tr("&Redo")));
  actions_.add({tr("&Plan"), tr("&Find the best plans"), tr("Ctrl+Return")}, [this] { plan(); });
  preparation_.addActions(actions_);
  actions_.add({tr("&Plan"), tr("&Cancel the search"), tr("Ctrl+.")}, [this] { cancelWork(); });
  pages_->run()->setExports(exports_.addRecipeActions(actions_));
  pages_->run()->addActions(actions_);
  pages_->addActions(actions_);
  for (QDockWidget* dock : docks_)
    actions_.addExisting({tr("&View"), tr("Panel \"%1\"").arg(dock->windowTitle()), tr("Ctrl+Shift+%1").arg(docks_.indexOf(dock) + 1)},
                         dock->toggleViewAction());
  const TimelineActions timeline = pages_->timeline()->addActions(actions_);
  connect(timeline.every_rank, &QAction::toggled, &session_, &Session::showEveryRank);
  pages_->trace()->follow(timeline);
  pages_->trace()->addActions(actions_);
  appearance_.addActions(actions_);
  message_->addActions(actions_);
  commands_->addActions(actions_);
  actions_.add({tr("&Help"), tr("&Keys"), tr("?")}, [this] { showKeys(actions_, this); });
  return timeline;
}

void MainWindow::linkSession() {
  connect(&session_, &Session::searching, question_, &QuestionPanel::setRunning);
  connect(&session_, &Session::progressed, question_, &QuestionPanel::setProgress);
  connect(&session_, &Session::answered, this, [this](const SharedAnswer& answer) {
    message_->hide();
    pages_->plan()->setResult(answer->result, answer->limit);
    if (answer->result.ranked.empty())
      tell({tr("No plan is feasible."), tr("the table below says of each family why, and what would help")});
    statusBar()->showMessage(searchText(answer->result));
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
          [this](int position) { choosePlan(pages_->plan()->candidates()[static_cast<std::size_t>(position)].plan.plan); });
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

void MainWindow::edit(const sim::ParallelPlan& plan) {
  if (session_.wanted()) undo_.push(session_.turn(*session_.wanted(), plan, Session::Origin::Turned).release());
}

void MainWindow::choosePlan(const sim::ParallelPlan& plan) {
  if (!session_.wanted()) return session_.show(plan, Session::Origin::Chosen);
  if (sim::plan_hash(*session_.wanted()) == sim::plan_hash(plan)) return;
  undo_.push(session_.turn(*session_.wanted(), plan, Session::Origin::Chosen).release());
}

void MainWindow::tell(const Message& message) { message_->tell(message); }

void MainWindow::say(const QString& words) { statusBar()->showMessage(words); }

void MainWindow::plan() {
  pages_->setCurrentWidget(pages_->plan());  // its answer appears there
  session_.ask(question_->question());
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
  return std::any_of(jobs.begin(), jobs.end(), [](const BackgroundJob* job) { return job->isRunning(); });
}

// What somebody waits for; what is drawn beside goes on.
void MainWindow::cancelWork() {
  for (BackgroundJob* job : findChildren<BackgroundJob*>())
    if (!job->doing().isEmpty()) job->cancel();
  preparation_.tools()->cancel();
}

void MainWindow::pictureWhenReady(const QString& path) {
  constexpr int kLook = 100;  // milliseconds
  QTimer::singleShot(kLook, this, [this, path] {
    if (isWorking()) return pictureWhenReady(path);
    QApplication::exit(grab().save(path) ? 0 : 1);
  });
}

// With room for the frame that a window manager draws.
void MainWindow::fitScreen() {
  constexpr QSize kFrame(8, 40);
  resize(size().boundedTo(screen()->availableSize() - kFrame));
}

void MainWindow::restoreLast() {
  keeps_state_ = true;
  documents_.remember(true);
  const QSettings settings;
  fitScreen();
  restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
  QMainWindow::restoreState(settings.value(QStringLiteral("window/docks")).toByteArray(), kStateVersion);
  appearance_.restore();
  findRunAgain(settings.value(QStringLiteral("run/folder")).toString());
}

// The run that an earlier window started and that goes on.
void MainWindow::findRunAgain(const QString& folder) {
  if (folder.isEmpty()) return;
  RunProcess known;
  known.follow(folder);
  if (!known.isAlive()) return;
  pages_->run()->follow(folder);
  pages_->setCurrentWidget(pages_->run());
  statusBar()->showMessage(tr("The run in %1 is still going on.").arg(folder));
}

void MainWindow::keepState() const {
  QSettings settings;
  settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
  settings.setValue(QStringLiteral("window/docks"), saveState(kStateVersion));
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return cancelWork();
  QMainWindow::keyPressEvent(event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (keeps_state_) keepState();
  work_.keepNow();
  QMainWindow::closeEvent(event);
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
  auto* next = new MainWindow;
  next->setAttribute(Qt::WA_DeleteOnClose);
  next->restoreLast();
  next->work()->restore();
  next->setGeometry(geometry());
  next->show();
  close();
}

}  // namespace gui
