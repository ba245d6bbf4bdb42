// One line above the pages: which plan is shown, of what. Before there is one: which model is open. Knows the document of each page, too, for the
// window's title.
#pragma once

#include <QLabel>
#include <optional>
#include <vector>

#include "gui/core/plan_question.h"

namespace gui {

class ContextLine : public QLabel {
  Q_OBJECT
 public:
  enum class Of { Plan, Run, Trace };  // what a page shows
  explicit ContextLine(QWidget* parent = nullptr);
  void setQuestion(const PlanQuestion& question);
  void setPlan(const sim::ParallelPlan& plan);
  void setLimit(sim::Bytes limit);  // that the newest answer keeps to
  void setRun(const sim::ParallelPlan& plan, const QString& folder);
  void setTraces(const QStringList& paths);
  void nameDocument(const QString& path);  // a plan's file, a model's
  void showOf(Of what);
  QString title() const;       // of the window
  QString modelFacts() const;  // of the question's model; empty: there is none, or it cannot be read
 Q_SIGNALS:
  void titleChanged(const QString& title);

 private:
  void refresh();
  QString nameOf(const sim::ModelConfig& model) const;
  struct Named {
    sim::ModelConfig model;
    QString name;
  };
  Of of_ = Of::Plan;
  PlanQuestion question_;
  std::optional<sim::ModelConfig> asked_;  // the question's
  std::vector<Named> models_;              // that were opened
  std::optional<sim::ParallelPlan> plan_, run_;
  sim::Bytes limit_{};
  QString document_, run_folder_, traces_;
};

}  // namespace gui
