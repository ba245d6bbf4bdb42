#include "gui/pages/context_line.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>

#include "gui/core/file_kind.h"
#include "gui/models/cells.h"
#include "gui/models/context_text.h"

namespace gui {
namespace {

// As its file says it; "config.json" says nothing, its folder does. A plan's file is named after the plan: the model has its family's name.
QString nameOfFile(const std::string& path, const sim::ModelConfig& model) {
  const QFileInfo file(QString::fromStdString(path));
  if (kindOfFile(path) == FileKind::Plan) return textOf(model.model_type);
  return file.fileName() == QStringLiteral("config.json") ? file.absoluteDir().dirName() : file.completeBaseName();
}

}  // namespace

ContextLine::ContextLine(QWidget* parent) : QLabel(parent) {
  setWordWrap(true);
  setContentsMargins(10, 4, 10, 4);
  setTextInteractionFlags(Qt::TextSelectableByMouse);
  setAccessibleName(tr("What is shown"));
  refresh();
}

void ContextLine::setQuestion(const PlanQuestion& question) {
  const bool is_other = question.model != question_.model;
  question_ = question;
  if (is_other) asked_ = knownModel(question.model);
  if (is_other && asked_) {
    std::erase_if(models_, [&](const Named& known) { return known.model == *asked_; });
    models_.push_back({*asked_, nameOfFile(question.model, *asked_)});
    nameDocument(QString::fromStdString(question.model));
  }
  refresh();
}

void ContextLine::setPlan(const sim::ParallelPlan& plan) {
  plan_ = plan;
  refresh();
}

void ContextLine::setLimit(sim::Bytes limit) {
  limit_ = limit;
  refresh();
}

void ContextLine::setRun(const sim::ParallelPlan& plan, const QString& folder) {
  run_ = plan;
  run_folder_ = QFileInfo(folder).fileName();
  refresh();
}

void ContextLine::setTraces(const QStringList& paths) {
  QStringList names;
  for (const QString& path : paths) names << QFileInfo(path).fileName();
  traces_ = names.size() > 2 ? tr("%1 and %2 more").arg(names.front()).arg(names.size() - 1) : names.join(QStringLiteral(", "));
  refresh();
}

void ContextLine::nameDocument(const QString& path) {
  document_ = QFileInfo(path).fileName();
  refresh();
}

void ContextLine::showOf(Of what) {
  of_ = what;
  refresh();
}

QString ContextLine::title() const {
  const QString& document = of_ == Of::Trace && !traces_.isEmpty()     ? traces_
                            : of_ == Of::Run && !run_folder_.isEmpty() ? run_folder_
                                                                       : document_;
  return document.isEmpty() ? tr("Meshwright") : document + QStringLiteral(" – ") + tr("Meshwright");
}

QString ContextLine::modelFacts() const { return asked_ ? modelText(*asked_, question_.sequence) : QString(); }

QString ContextLine::nameOf(const sim::ModelConfig& model) const {
  const auto known = std::find_if(models_.begin(), models_.end(), [&](const Named& one) { return one.model == model; });
  return known == models_.end() ? textOf(model.model_type) : known->name;
}

void ContextLine::refresh() {
  const std::optional<sim::ParallelPlan>& plan = of_ == Of::Run && run_ ? run_ : plan_;
  QString text;
  if (of_ == Of::Trace && !traces_.isEmpty())
    text = traces_;
  else if (plan)
    text = contextText(nameOf(plan->model), *plan, of_ == Of::Run ? sim::Bytes(0) : limit_);
  else if (asked_)
    text = nameOf(*asked_) + QStringLiteral(" · ") + modelFacts();
  setText(text);
  setVisible(!text.isEmpty());
  Q_EMIT titleChanged(title());
}

}  // namespace gui
