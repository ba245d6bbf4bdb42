#include "gui/pages/answers_page.h"

#include <utility>

#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSplitter>

#include "gui/models/answer_tables.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/waiting_line.h"
#include "sim/units/at.h"

namespace gui {

AnswersPage::AnswersPage(QWidget* parent)
    : QWidget(parent),
      asking_(this),
      questions_(new QListWidget(this)),
      sentence_(new QLabel(tr("Choose a plan, then click a question."), this)),
      table_(new TablePanel(tr("What was tried or found"), TablePanel::Filter::Hidden, this)),
      take_(new QPushButton(tr("&Take this variant"), this)) {
  for (const Question& question : allQuestions()) questions_->addItem(questionText(question));
  build();
  connect(questions_, &QListWidget::currentRowChanged, this, &AnswersPage::ask);
  connect(take_, &QPushButton::clicked, this, &AnswersPage::takeVariant);
  connect(table_, &TablePanel::rowChosen, this, [this] { take_->setEnabled(true); });
  connect(&asking_, &BackgroundJob::progressed, this, [this](double share, std::optional<sim::Seconds> left) {
    sentence_->setText(WaitingLine::textOf(asking_.doing(), share, left));
  });
  connect(&asking_, &BackgroundJob::cancelled, this, [this] { sentence_->setText(tr("Cancelled.")); });
  connect(&asking_, &BackgroundJob::failed, this, [this](const Message& message) { sentence_->setText(message.problem); });
}

void AnswersPage::build() {
  questions_->setAccessibleName(tr("Questions"));
  questions_->setFrameShape(QFrame::NoFrame);
  questions_->setSpacing(3);
  questions_->setWordWrap(true);
  questions_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  sentence_->setWordWrap(true);
  sentence_->setContentsMargins(12, 14, 12, 10);
  QFont large = sentence_->font();
  large.setPointSizeF(large.pointSizeF() * 1.25);
  sentence_->setFont(large);
  take_->setEnabled(false);
  auto* right = new QWidget(this);
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 8);
  column->addWidget(sentence_);
  column->addWidget(table_, 1);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(10, 0, 10, 0);
  line->addWidget(take_);
  line->addStretch(1);
  column->addLayout(line);
  auto* body = new QSplitter(Qt::Horizontal, this);
  body->addWidget(questions_);
  body->addWidget(right);
  body->setSizes({362, 778});
  body->setStretchFactor(1, 1);
  table_->setStretchedColumn(0);
  auto* all = new QHBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(body);
}

void AnswersPage::setPlan(const SharedPlan& plan) {
  plan_ = plan;
  if (questions_->currentRow() < 0) sentence_->setText(tr("Click a question: the simulator answers it for the plan shown."));
  if (isVisible())
    ask(questions_->currentRow());
  else
    questions_->setCurrentRow(-1);
}

void AnswersPage::ask(int question) {
  if (question < 0 || !plan_) return;
  sentence_->setText(tr("Simulating…"));
  asking_.start(tr("Simulating"), [this, plan = plan_, question](Progress& progress) -> BackgroundJob::Finish {
    const Answer answer = sim::at(allQuestions(), question).answer(*plan, {progress.cancelled, progress.part});
    progress.stopIfCancelled();
    return [this, answer] { show(answer); };
  });
}

void AnswersPage::show(Answer answer) {
  answer_ = std::move(answer);
  sentence_->setText(sentenceOf(answer_));
  table_->setTable(answerTable(answer_));
  take_->setVisible(!answer_.variants.empty());
  take_->setEnabled(false);
}

void AnswersPage::takeVariant() {
  const int row = table_->chosen();
  if (row < 0 || std::cmp_greater_equal(row, answer_.variants.size())) return;
  const Variant& variant = sim::at(answer_.variants, row);
  if (variant.why_not.empty()) Q_EMIT planWanted(variant.plan);
}

}  // namespace gui
