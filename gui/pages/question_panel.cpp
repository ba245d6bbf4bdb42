#include "gui/pages/question_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QDoubleValidator>
#include <QFormLayout>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>
#include <algorithm>
#include <iterator>

#include "gui/core/plan_question.h"
#include "gui/models/cells.h"
#include "gui/pages/path_edit.h"
#include "sim/recipe/recipe.h"
#include "sim/units/at.h"

namespace gui {
namespace {

// What plans are ranked by, in the order of the choice.
struct RankedBy {
  planner::Objective objective;
  bool robust;
};
constexpr RankedBy kRankedBy[] = {{planner::Objective::Step, false},
                                  {planner::Objective::Step, true},
                                  {planner::Objective::Cost, false},
                                  {planner::Objective::Energy, false},
                                  {planner::Objective::TimeToTrain, false}};

int positionOf(const PlanQuestion& question) {
  const auto found = std::find_if(std::begin(kRankedBy), std::end(kRankedBy), [&](const RankedBy& one) {
    return one.objective == question.objective && one.robust == question.robust;
  });
  return found == std::end(kRankedBy) ? 0 : static_cast<int>(found - std::begin(kRankedBy));
}

struct Field {
  QString label;
  QWidget* widget;
};
QLayout* besideEachOther(const Field& left, const Field& right) {
  auto* grid = new QGridLayout;
  grid->setVerticalSpacing(4);
  for (const int column : {0, 1}) {
    const Field& field = column == 0 ? left : right;
    auto* label = new QLabel(field.label);
    label->setBuddy(field.widget);
    grid->addWidget(label, 0, column);
    grid->addWidget(field.widget, 1, column);
    grid->setColumnStretch(column, 1);
  }
  return grid;
}

QSpinBox* spinBox(QWidget* parent, int most, int value) {
  auto* box = new QSpinBox(parent);
  box->setRange(1, most);
  box->setValue(value);
  box->setGroupSeparatorShown(true);
  return box;
}

}  // namespace

QuestionPanel::QuestionPanel(QWidget* parent)
    : QWidget(parent),
      model_(new PathEdit(this)),
      memory_limit_(new QLineEdit(this)),
      tokens_(new QLineEdit(this)),
      mtbf_(new QLineEdit(this)),
      cluster_(new QComboBox(this)),
      software_(new QComboBox(this)),
      precision_(new QComboBox(this)),
      program_(new QComboBox(this)),
      ranking_(new QComboBox(this)),
      devices_(spinBox(this, 1 << 20, 8)),
      batch_(spinBox(this, 1 << 24, 64)),
      sequence_(spinBox(this, 1 << 24, 1024)),
      risk_(new QDoubleSpinBox(this)),
      fewer_(new QCheckBox(tr("Fewer devices compete, t&oo"), this)),
      plan_(new QPushButton(tr("&Plan"), this)),
      cancel_(new QPushButton(tr("Cancel"), this)),
      progress_(new QProgressBar(this)),
      footer_(new QWidget(this)) {
  for (const std::string& name : knownClusters()) cluster_->addItem(QString::fromStdString(name));
  cluster_->setEditable(true);
  cluster_->setLineEdit(new PathEdit(cluster_));
  cluster_->setToolTip(tr("A hardware profile or cluster, by name or as a file"));
  cluster_->setCurrentText(QStringLiteral("h100-80gb-sxm"));
  for (const std::string& name : knownSoftware()) software_->addItem(QString::fromStdString(name));
  software_->setEditable(true);
  software_->setToolTip(tr("What runs on GPUs: a software profile, by name or as a file"));
  software_->setCurrentText(QStringLiteral("meshwright"));
  precision_->addItem(tr("automatic"));
  precision_->setToolTip(tr("Of matrix products: bf16 on GPUs, fp32 on CPUs, where nothing is chosen"));
  for (const char* name : {"fp32", "tf32", "bf16", "fp16", "fp8:delayed", "fp8:tensorwise", "fp8:blockwise", "fp8:mx", "fp4:nvfp4"})
    precision_->addItem(QString::fromLatin1(name));
  program_->addItem(tr("plans for any program"), QString());
  program_->addItem(tr("only plans that run here today"), QString::fromLatin1(kWorker));
  for (const sim::Program* program : sim::all_programs())
    if (!program->marks.empty()) program_->addItem(tr("only plans for %1").arg(textOf(program->title)), textOf(program->name));
  program_->setToolTip(tr("What shall perform the plan: what it cannot is out"));
  program_->setAccessibleName(tr("Program that performs the plan"));
  ranking_->addItem(tr("rank by the step predicted"));
  ranking_->addItem(tr("rank by what 9 of 10 steps keep to"));
  ranking_->addItem(tr("rank by what a step costs"));
  ranking_->addItem(tr("rank by the energy of a step"));
  ranking_->addItem(tr("rank by the time to train"));
  ranking_->setToolTip(
      tr("The 90th percentile prefers plans whose prediction is surer; the cost is the time of all devices together; the energy is what "
         "they draw; "
         "the time to train counts failures, restarts and checkpoints"));
  fewer_->setToolTip(tr("Also 3/4, 1/2, 3/8 … of them, in whole nodes: how many is then a choice like any other"));
  ranking_->setObjectName(QStringLiteral("ranking"));
  ranking_->setAccessibleName(tr("What plans are ranked by"));
  batch_->setToolTip(tr("Samples a step, of all ranks"));
  sequence_->setToolTip(tr("Tokens a sample"));
  model_->setPlaceholderText(tr("config.json"));
  memory_limit_->setPlaceholderText(tr("the device's"));
  memory_limit_->setToolTip(tr("Memory a device that plans may use, like \"70 GiB\"; empty: the device's"));
  tokens_->setPlaceholderText(QStringLiteral("15e12"));
  tokens_->setValidator(new QDoubleValidator(0, 1e18, 0, tokens_));
  mtbf_->setPlaceholderText(QStringLiteral("5.8 y"));
  mtbf_->setToolTip(tr("Mean time between failures of one device, with its unit; empty: none fails"));
  risk_->setRange(0, 100);
  risk_->setDecimals(1);
  risk_->setValue(5);
  risk_->setSuffix(QStringLiteral(" %"));
  risk_->setToolTip(tr("Chance to run out of memory up to which a plan competes"));
  buildForm();
  buildButtons();
  setRunning(false);
  const auto tell = [this] { Q_EMIT changed(question()); };
  connect(model_, &QLineEdit::textChanged, this, tell);
  connect(cluster_, &QComboBox::currentTextChanged, this, tell);
  for (QSpinBox* number : {devices_, batch_, sequence_}) connect(number, &QSpinBox::valueChanged, this, tell);
  for (QComboBox* choice : {software_, precision_, program_, ranking_}) connect(choice, &QComboBox::currentTextChanged, this, tell);
  for (QLineEdit* text : {memory_limit_, tokens_, mtbf_}) connect(text, &QLineEdit::textChanged, this, tell);
  connect(fewer_, &QCheckBox::toggled, this, tell);
  connect(risk_, &QDoubleSpinBox::valueChanged, this, tell);
}

void QuestionPanel::buildForm() {
  auto* browse = new QToolButton(this);
  browse->setText(QStringLiteral("…"));
  browse->setToolTip(tr("Open a model (Ctrl+O)"));
  browse->setAccessibleName(tr("Open a model"));
  connect(browse, &QToolButton::clicked, this, &QuestionPanel::browseRequested);
  auto* model_line = new QHBoxLayout;
  model_line->addWidget(model_, 1);
  model_line->addWidget(browse);
  auto* form = new QFormLayout(this);
  form->setContentsMargins(12, 8, 12, 8);
  form->setVerticalSpacing(4);  // all of it, the button included, in a window of 900 pixels
  form->setRowWrapPolicy(QFormLayout::WrapAllRows);
  auto* model_label = new QLabel(tr("&Model (Hugging Face config)"), this);
  model_label->setBuddy(model_);
  form->addRow(model_label);
  form->addRow(model_line);
  form->addRow(tr("C&luster or device"), cluster_);
  form->addRow(besideEachOther({tr("De&vices"), devices_}, {tr("P&recision"), precision_}));
  form->addRow(fewer_);
  form->addRow(tr("Soft&ware on GPUs"), software_);
  form->addRow(besideEachOther({tr("Global &batch"), batch_}, {tr("&Sequence"), sequence_}));
  form->addRow(besideEachOther({tr("Memory l&imit"), memory_limit_}, {tr("Accepted ris&k"), risk_}));
  form->addRow(program_);
  form->addRow(ranking_);
  QLayout* training = besideEachOther({tr("Tokens to train"), tokens_}, {tr("Device fails every"), mtbf_});
  form->addRow(training);
  const auto show = [=, this] {
    form->setRowVisible(training, sim::at(kRankedBy, ranking_->currentIndex()).objective == planner::Objective::TimeToTrain);
  };
  connect(ranking_, &QComboBox::currentIndexChanged, this, show);
  show();
}

void QuestionPanel::buildButtons() {
  plan_->setDefault(true);
  plan_->setToolTip(tr("Find the best plans (Ctrl+Return)"));
  cancel_->setToolTip(tr("Stop the search (Ctrl+.)"));
  auto* line = new QHBoxLayout;
  line->addWidget(plan_, 1);
  line->addWidget(cancel_);
  auto* column = new QVBoxLayout(footer_);
  column->setContentsMargins(12, 4, 12, 8);
  column->addLayout(line);
  column->addWidget(progress_);
  static_cast<QFormLayout*>(layout())->addRow(footer_);  // until somebody takes it
  connect(plan_, &QPushButton::clicked, this, [this] { Q_EMIT planRequested(question()); });
  connect(cancel_, &QPushButton::clicked, this, &QuestionPanel::cancelRequested);
}

PlanQuestion QuestionPanel::question() const {
  const RankedBy& ranked_by = sim::at(kRankedBy, ranking_->currentIndex());
  return {.model = model_->text().toStdString(),
          .cluster = cluster_->currentText().toStdString(),
          .devices = devices_->value(),
          .software = software_->currentText().trimmed().toStdString(),
          .global_batch = batch_->value(),
          .sequence = sequence_->value(),
          .precision = precision_->currentIndex() > 0 ? precision_->currentText().toStdString() : std::string(),
          .memory_limit = memory_limit_->text().trimmed().toStdString(),
          .risk = risk_->value() / 100,
          .robust = ranked_by.robust,
          .objective = ranked_by.objective,
          .tokens = tokens_->text().toDouble(),
          .mtbf = mtbf_->text().trimmed().toStdString(),
          .fewer = fewer_->isChecked(),
          .program = program_->currentData().toString().toStdString()};
}

void QuestionPanel::setQuestion(const PlanQuestion& question) {
  model_->setText(QString::fromStdString(question.model));
  cluster_->setCurrentText(QString::fromStdString(question.cluster));
  devices_->setValue(question.devices);
  software_->setCurrentText(question.software.empty() ? QStringLiteral("meshwright") : QString::fromStdString(question.software));
  batch_->setValue(static_cast<int>(question.global_batch));
  sequence_->setValue(static_cast<int>(question.sequence));
  const QString precision = QString::fromStdString(question.precision);
  if (precision_->findText(precision) < 0 && !precision.isEmpty()) precision_->addItem(precision);  // of a plan: a policy in words
  precision_->setCurrentIndex(precision.isEmpty() ? 0 : precision_->findText(precision));
  memory_limit_->setText(QString::fromStdString(question.memory_limit));
  risk_->setValue(100 * question.risk);
  ranking_->setCurrentIndex(positionOf(question));
  tokens_->setText(question.tokens > 0 ? QString::number(question.tokens, 'g', 12) : QString());
  mtbf_->setText(QString::fromStdString(question.mtbf));
  fewer_->setChecked(question.fewer);
  program_->setCurrentIndex(std::max(0, program_->findData(QString::fromStdString(question.program))));
}

void QuestionPanel::setRunning(bool running) {
  plan_->setEnabled(!running);
  cancel_->setEnabled(running);
  progress_->setVisible(running);
  progress_->setRange(0, 0);
}

void QuestionPanel::setProgress(const planner::SearchProgress& progress, double share) {
  progress_->setRange(0, 1000);
  progress_->setValue(static_cast<int>(1000 * share));
  progress_->setFormat(tr("%L1 of %L2 candidates").arg(progress.done).arg(progress.all));
}

}  // namespace gui
