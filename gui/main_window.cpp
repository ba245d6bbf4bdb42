#include "gui/main_window.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
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

#include "gui/pages/command_palette.h"
#include "gui/pages/context_line.h"
#include "gui/pages/key_list.h"
#include "gui/pages/knobs_panel.h"
#include "gui/pages/menu_letters.h"
#include "gui/pages/message_bar.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/scroll_dock.h"
#include "gui/pages/trace_page.h"

namespace gui {
namespace {

constexpr int kStateVersion = 1;
constexpr QSize kUsual(1440, 900);

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
  resize(kUsual);
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
    resize(kUsual);  // whatever the screen is
    QTimer::singleShot(kLook, this, [this, path] { QApplication::exit(grab().save(path) ? 0 : 1); });
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
