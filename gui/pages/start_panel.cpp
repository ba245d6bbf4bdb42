#include "gui/pages/start_panel.h"

#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>

namespace gui {

StartPanel::StartPanel(QWidget* parent) : QWidget(parent), column_(new QVBoxLayout), model_(new QLabel(this)), devices_(new QLabel(this)) {
  model_->setWordWrap(true);
  constexpr int kWidest = 900;  // what belongs together stays together
  auto* content = new QWidget(this);
  content->setMaximumWidth(kWidest);
  content->setLayout(column_);
  auto* all = new QHBoxLayout(this);
  all->addWidget(content, kWidest);
  all->addStretch(1);
  column_->setContentsMargins(48, 24, 48, 24);
  column_->addStretch(1);
  auto* title = new QLabel(tr("From a model to a run that is compared with its prediction"), this);
  QFont large = title->font();
  large.setPointSizeF(large.pointSizeF() * 1.6);
  title->setFont(large);
  title->setWordWrap(true);
  column_->addWidget(title);
  connect(addStep(tr("Open a model"), tr("The config.json of a Hugging Face model, from a file; or drop it on the window."),
                  tr("Open a config.json…")),
          &QPushButton::clicked, this, &StartPanel::modelWanted);
  auto* examples = new QMenu(this);
  const QDir folder(QString::fromStdString(modelsFolder()));
  for (const QString& file : folder.entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name))
    examples->addAction(file.chopped(5), this, [this, path = folder.filePath(file)] { Q_EMIT exampleChosen(path); });
  examples_ = addStep(QString(), tr("No model at hand? These came with the program."), tr("Take an example"));
  examples_->setMenu(examples);
  column_->addWidget(model_);
  connect(addStep(tr("Say what it trains on"),
                  tr("Choose a cluster and the number of devices at the left; to train here, let this machine be measured once."),
                  tr("Measure this machine")),
          &QPushButton::clicked, this, &StartPanel::measureWanted);
  column_->addWidget(devices_);
  plan_ = addStep(tr("Find the best plans"),
                  tr("How to cut the model over the devices, with time and memory of each way, and why the others lose."),
                  tr("Find the best plans"));
  connect(plan_, &QPushButton::clicked, this, &StartPanel::planWanted);
  addStep(tr("Run it, and compare"),
          tr("A plan for this machine is started on the Run page; there one click holds the run against its simulation."), QString());
  column_->addStretch(2);
  setQuestion({});
}

void StartPanel::setQuestion(const PlanQuestion& question, const QString& model_facts) {
  const auto nameOf = [](const std::string& path) { return QFileInfo(QString::fromStdString(path)).completeBaseName().toHtmlEscaped(); };
  model_->setVisible(!question.model.empty());
  model_->setText(QStringLiteral("✓ <b>%1</b>").arg(nameOf(question.model)) +
                  (model_facts.isEmpty() ? QString() : QStringLiteral("<br>") + model_facts));
  devices_->setVisible(!question.model.empty() && !question.cluster.empty());
  devices_->setText(QStringLiteral("✓ <b>%L1 × %2</b>").arg(question.devices).arg(nameOf(question.cluster)));
  plan_->setEnabled(!question.model.empty());
  plan_->setDefault(!question.model.empty());  // the next step stands out
  examples_->setDefault(question.model.empty());
}

// Without a title: more about the step before. Without a button: what comes later.
QPushButton* StartPanel::addStep(const QString& title, const QString& text, const QString& button) {
  auto* line = new QHBoxLayout;
  auto* words = new QLabel(title.isEmpty() ? text : QStringLiteral("<b>%1. %2</b><br>%3").arg(++steps_).arg(title, text), this);
  words->setWordWrap(true);
  auto* push = button.isEmpty() ? nullptr : new QPushButton(button, this);
  line->addWidget(words, 1);
  if (push != nullptr) {
    push->setMinimumWidth(200);
    line->addWidget(push, 0, Qt::AlignVCenter);
  }
  column_->addSpacing(title.isEmpty() ? 4 : 16);
  column_->addLayout(line);
  return push;
}

}  // namespace gui
