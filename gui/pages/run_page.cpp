#include "gui/pages/run_page.h"

#include <QComboBox>
#include <QDir>
#include <QFontDatabase>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSpinBox>
#include <QSplitter>
#include <QStandardPaths>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"
#include "gui/models/run_tables.h"
#include "gui/pages/actions.h"
#include "gui/pages/path_edit.h"
#include "gui/pages/table_panel.h"
#include "gui/views/line_view.h"
#include "gui/views/slice_text.h"
#include "gui/views/timeline_view.h"
#include "sim/units/at.h"

namespace gui {
namespace {

// The folder, or the next of its name that holds no run yet: runs/gui, runs/gui-2, ... No run is lost for another.
QString freeFolder(const QString& folder) {
  static const QRegularExpression counted(QStringLiteral("-\\d{1,2}$"));
  QString free = folder;
  for (int number = 2; QFile::exists(free + QStringLiteral("/plan.json")); ++number)
    free = QString(folder).remove(counted) + '-' + QString::number(number);
  return free;
}

std::optional<sim::ParallelPlan> planIn(const QString& folder) {
  try {
    return sim::load_plan((folder + QStringLiteral("/plan.json")).toStdString());
  } catch (const sim::InputError&) {
    return std::nullopt;  // nothing is expected of a run without one
  }
}

}  // namespace

RunPage::RunPage(QWidget* parent)
    : QWidget(parent),
      data_(new PathEdit(this)),
      folder_(new PathEdit(this)),
      command_(new QLineEdit(this)),
      launcher_(new QComboBox(this)),
      steps_(new QSpinBox(this)),
      example_(new QPushButton(tr("Take an e&xample"), this)),
      start_(new QPushButton(tr("&Start"), this)),
      stop_(new QPushButton(tr("S&top"), this)),
      resume_(new QPushButton(tr("&Resume"), this)),
      compare_(new QPushButton(tr("&Compare with the simulation"), this)),
      export_(new QPushButton(tr("Export the plan"), this)),
      script_button_(new QPushButton(tr("Show the scr&ipt for srun"), this)),
      state_(new QLabel(this)),
      elsewhere_(new QLabel(this)),
      loss_(new LineView(tr("Loss"), this)),
      speed_(new LineView(tr("Tokens/s"), this)),
      memory_(new LineView(tr("Memory, MiB"), this)),
      timeline_(new TimelineView(this)),
      words_(new QPlainTextEdit(this)),
      history_(new TablePanel(tr("Runs so far"), TablePanel::Filter::Shown, this)),
      noting_(this),
      drawing_(this) {
  const bool here = QFileInfo(QDir::currentPath()).isWritable();  // where a desktop starts programs it is often not
  folder_->setText(QDir(here ? QDir::currentPath() : QStandardPaths::writableLocation(QStandardPaths::AppDataLocation))
                       .filePath(QStringLiteral("runs/gui")));
  build();
  connect(launcher_, &QComboBox::activated, this, &RunPage::showScript);
  connect(&scripting_, &ToolProcess::failed, this, &RunPage::failed);
  connect(start_, &QPushButton::clicked, this, &RunPage::start);
  connect(stop_, &QPushButton::clicked, &process_, &RunProcess::stop);
  connect(&drawing_, &BackgroundJob::runningChanged, this, [this](bool running) {
    if (!running && redraw_) drawTimeline();
  });
  connect(resume_, &QPushButton::clicked, this, &RunPage::resume);
  connect(compare_, &QPushButton::clicked, this, [this] { Q_EMIT compareRequested(folder_->text()); });
  connect(&process_, &RunProcess::changed, this, [this] {
    refresh();
    if (!process_.isAlive() || process_.steps().size() == 1) noteRun(process_.folder());
  });
  connect(&noting_, &BackgroundJob::failed, this, &RunPage::failed);
  connect(history_, &TablePanel::rowOpened, this,
          [this](int position) { Q_EMIT runOpened(QString::fromStdString(sim::at(records_, position).folder)); });
  connect(script_button_, &QPushButton::clicked, this, [this] {
    launcher_->setCurrentText(QStringLiteral("srun"));
    showScript(launcher_->currentIndex());
  });
  connect(&process_, &RunProcess::failed, this, &RunPage::failed);
  for (QLineEdit* line : {data_, folder_}) connect(line, &QLineEdit::textChanged, this, &RunPage::refresh);
  connect(steps_, &QSpinBox::valueChanged, this, &RunPage::refresh);
  for (QLineEdit* line : {data_, folder_}) connect(line, &QLineEdit::textChanged, this, &RunPage::formChanged);
  connect(steps_, &QSpinBox::valueChanged, this, &RunPage::formChanged);
  refresh();
}

QWidget* RunPage::form() {
  auto* box = new QWidget(this);
  auto* form = new QFormLayout(box);
  form->setContentsMargins(12, 10, 12, 8);
  steps_->setRange(1, 1000000000);
  steps_->setValue(20);
  data_->setPlaceholderText(tr("a token file, or any text"));
  command_->setReadOnly(true);
  command_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  command_->setAccessibleName(tr("Command to paste into a terminal"));
  auto* browse = new QPushButton(tr("C&hoose a text…"), this);
  browse->setToolTip(tr("Choose a text or a token file"));
  connect(browse, &QPushButton::clicked, this, &RunPage::dataWanted);
  auto* data_line = new QHBoxLayout;
  data_line->addWidget(data_, 1);
  data_line->addWidget(browse);
  example_->setToolTip(tr("A text that came with the program: enough to see a run"));
  connect(example_, &QPushButton::clicked, this, &RunPage::exampleWanted);
  data_line->addWidget(example_);
  auto* data_label = new QLabel(tr("&Data"), this);
  data_label->setBuddy(data_);
  form->addRow(data_label, data_line);
  auto* steps_label = new QLabel(tr("St&eps"), this);
  steps_label->setBuddy(steps_);
  auto* steps_line = new QHBoxLayout;  // and how far it is: it has room there on a small screen
  steps_line->addWidget(steps_);
  steps_line->addSpacing(12);
  state_->setMinimumWidth(1);
  steps_line->addWidget(state_, 1);
  form->addRow(steps_label, steps_line);
  form->addRow(tr("Run &folder"), folder_);
  launcher_->addItem(tr("on this machine"));
  launcher_->addItems({QStringLiteral("mpirun"), QStringLiteral("srun"), QStringLiteral("torchrun")});
  launcher_->setAccessibleName(tr("What starts the ranks"));
  launcher_->setToolTip(tr("The command or job script for another launcher appears below, to copy"));
  auto* command_line = new QHBoxLayout;
  command_line->addWidget(command_, 1);
  command_line->addWidget(launcher_);
  form->addRow(tr("As a command"), command_line);
  auto* line = new QHBoxLayout;
  for (QPushButton* button : {start_, stop_, resume_, compare_, export_}) line->addWidget(button);
  line->addStretch(1);
  form->addRow(line);
  elsewhere_->setWordWrap(true);
  elsewhere_->setMinimumHeight(2 * elsewhere_->fontMetrics().lineSpacing());
  auto* elsewhere_line = new QHBoxLayout;
  elsewhere_line->addWidget(elsewhere_, 1);
  elsewhere_line->addWidget(script_button_);
  form->addRow(elsewhere_line);
  return box;
}

void RunPage::build() {
  words_->setReadOnly(true);
  words_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  words_->setPlaceholderText(tr("What the run says appears here."));
  words_->setFrameShape(QFrame::NoFrame);
  auto* charts = new QSplitter(Qt::Horizontal, this);
  charts->addWidget(loss_);
  charts->addWidget(speed_);
  charts->addWidget(memory_);
  auto* body = new QSplitter(Qt::Vertical, this);
  timeline_->setAccessibleName(tr("Timeline of the run"));
  words_->setAccessibleName(tr("What the run says"));
  timeline_->setEmptyText(tr("The steps of the run appear here; their tasks with every checkpoint"));
  body->addWidget(charts);
  body->addWidget(timeline_);
  auto* below = new QSplitter(Qt::Horizontal, this);
  below->addWidget(words_);
  below->addWidget(history_);
  below->setSizes({420, 480});
  body->addWidget(below);
  body->setSizes({220, 190, 160});
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(form());
  column->addWidget(body, 1);
}

void RunPage::addActions(Actions& actions) {
  const auto add = [&](const QString& text, const QString& keys, QPushButton* button) {
    QAction* action = actions.add({tr("&Run"), text, QKeySequence(keys)}, [button] { button->click(); });
    connect(this, &RunPage::buttonsChanged, action, [action, button] { action->setEnabled(button->isEnabled()); });
    action->setEnabled(button->isEnabled());
  };
  add(tr("&Start the run"), QStringLiteral("F5"), start_);
  add(tr("S&top the run"), QStringLiteral("Shift+F5"), stop_);
  add(tr("&Resume the run"), QStringLiteral("Ctrl+F5"), resume_);
}

void RunPage::setExports(const QList<QAction*>& exports) {
  auto* menu = new QMenu(export_);
  menu->addActions(exports);
  export_->setMenu(menu);
}

void RunPage::setPlan(const sim::ParallelPlan& plan) {
  plan_ = plan;
  refresh();
}

void RunPage::setMachine(const Machine& machine) {
  machine_ = machine;
  refresh();
}

void RunPage::keepHistory(const QString& path) {
  history_path_ = path;
  try {
    records_ = loadHistory(path.toStdString());
  } catch (...) {
    Q_EMIT failed(messageOf(std::current_exception()));
  }
  showHistory();
}

void RunPage::showHistory() {
  const std::vector<RunRecord> shown = records_;
  history_->setTable(historyTable(shown));
}

// A folder without a plan is not noted: nothing has begun there yet.
void RunPage::noteRun(const QString& folder) {
  noting_.start([this, folder = folder.toStdString(), path = history_path_.toStdString(),
                 history = records_](Progress&) mutable -> BackgroundJob::Finish {
    try {
      note(history, recordOf(folder));
    } catch (const sim::InputError&) {
      return {};
    }
    if (!path.empty()) saveHistory(history, path);
    return [this, history] {
      records_ = history;
      showHistory();
    };
  });
}

void RunPage::setData(const QString& path) { data_->setText(path); }

void RunPage::setRequest(const RunRequest& request) {
  data_->setText(request.data);
  folder_->setText(request.folder);
  steps_->setValue(request.steps);
}

RunRequest RunPage::request() const { return {.data = data_->text(), .folder = folder_->text(), .steps = steps_->value()}; }

void RunPage::expect(const std::optional<sim::ParallelPlan>& plan) {
  constexpr double kMebibyte = 1 << 20;
  const bool is_known = plan && plan->predictions && plan->predictions->step_time.count() > 0;
  const sim::Workload work = plan ? plan->workload : sim::Workload();
  speed_->setExpected(is_known
                          ? std::optional(static_cast<double>(work.global_batch * work.sequence) / plan->predictions->step_time.count())
                          : std::nullopt);
  memory_->setExpected(is_known ? std::optional(static_cast<double>(plan->predictions->peak_memory.value()) / kMebibyte) : std::nullopt);
}

void RunPage::start() {
  script_.clear();
  folder_->setText(freeFolder(folder_->text()));
  expect(plan_);
  if (plan_) process_.start(*plan_, request());
}

void RunPage::resume() {
  RunRequest again = request();
  again.resume = true;
  process_.start(plan_.value_or(sim::ParallelPlan()), again);
}

// What `meshwright run --dry-run` writes for it stands below, in place of the run's own words.
void RunPage::showScript(int launcher) {
  script_.clear();
  refresh();
  if (launcher == 0 || !plan_) return launcher_->setCurrentIndex(0);
  const QStringList words = process_.scriptCommand(*plan_, request(), launcher_->currentText());
  if (!words.isEmpty())
    scripting_.start({}, words, [this](const QString& said) {
      script_ = said;
      refresh();
    });
}

void RunPage::follow(const QString& folder) {
  folder_->setText(folder);
  process_.follow(folder);
  expect(planIn(folder));
  if (process_.asked() > 0) steps_->setValue(static_cast<int>(process_.asked()));
  refresh();
}

QString RunPage::words() const { return words_->toPlainText(); }

void RunPage::refreshButtons() {
  const bool alive = process_.isAlive();
  const std::optional<std::string> elsewhere = plan_ && !alive ? whyNotHere(*plan_, machine_) : std::nullopt;
  for (QWidget* part : {static_cast<QWidget*>(elsewhere_), static_cast<QWidget*>(script_button_)}) part->setVisible(elsewhere.has_value());
  elsewhere_->setText(elsewhere ? sentenceText(*elsewhere) : QString());
  start_->setEnabled(plan_.has_value() && !data_->text().isEmpty() && !alive && !elsewhere);
  stop_->setEnabled(alive);
  resume_->setEnabled(process_.canResume());
  export_->setEnabled(plan_.has_value());
  compare_->setEnabled(!alive && !process_.steps().empty());
  QPushButton* const next = compare_->isEnabled()           ? compare_
                            : start_->isEnabled()           ? start_
                            : plan_ && !alive && !elsewhere ? example_
                                                            : nullptr;
  for (QPushButton* button : {example_, start_, compare_}) button->setDefault(button == next);  // stands out
  script_button_->setDefault(elsewhere.has_value());
  Q_EMIT buttonsChanged();
}

QString RunPage::stateText() const {
  const bool any = !process_.steps().empty();
  const auto last = any ? process_.steps().back().step : 0;
  if (process_.isAlive() && process_.asked() <= 0) return tr("running: step %1").arg(last);
  if (process_.isAlive()) {
    const QString step = tr("running: step %1 of %2").arg(last).arg(process_.asked());
    const std::optional<sim::Seconds> left = timeLeft(process_.steps(), process_.asked());
    return left ? step + tr(", %1 left").arg(waitText(*left)) : step;
  }
  if (any) return tr("ended after step %1").arg(last);
  return !plan_ ? tr("choose a plan first, on the Plan page") : data_->text().isEmpty() ? tr("choose the data first") : tr("ready");
}

void RunPage::refresh() {
  refreshButtons();
  command_->setText(process_.commandText(request()));
  launcher_->setEnabled(plan_.has_value());
  command_->setCursorPosition(0);
  state_->setText(stateText());
  state_->setToolTip(state_->text());  // all of it, on a small screen
  constexpr double kMebibyte = 1 << 20;
  std::vector<QPointF> loss, speed, memory;
  for (const StepMetrics& step : process_.steps()) {
    const auto at = static_cast<double>(step.step);
    loss.emplace_back(at, step.loss);
    speed.emplace_back(at, step.tokens_per_second);
    if (step.memory > sim::Bytes(0)) memory.emplace_back(at, static_cast<double>(step.memory.value()) / kMebibyte);
  }
  loss_->setPoints(std::move(loss));
  speed_->setPoints(std::move(speed));
  memory_->setPoints(std::move(memory));
  words_->setPlainText(script_.isEmpty() ? process_.words() : script_);
  words_->moveCursor(script_.isEmpty() ? QTextCursor::End : QTextCursor::Start);
  drawTimeline();
}

// A view that shows everything goes on doing so while the run grows; one that was zoomed stays where it is.
void RunPage::drawTimeline() {
  redraw_ = drawing_.isRunning();
  if (redraw_) return;
  drawing_.start([this, metrics = process_.steps(), folder = process_.folder().toStdString()](Progress&) -> BackgroundJob::Finish {
    const SharedRunTimeline drawn = runTimeline(metrics, tracesSoFar(folder));
    return [this, drawn] {
      const TimeRange before = timeline_->shown();
      const bool followed = !shown_ || before == shown_->core->range();
      timeline_->setTimeline(drawn->core, [drawn](std::uint32_t span) {
        return span < drawn->tasks.size() ? sliceName(drawn->tasks[span].key).toStdString() : drawn->nameOf(span);
      });
      if (!followed) timeline_->setShown(before);
      shown_ = drawn;
    };
  });
}

}  // namespace gui
