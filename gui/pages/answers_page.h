// Journey 10: the questions people ask of a plan, each one click; answered beside the window's thread. A variant can be taken as an edit.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>
#include <atomic>

#include "gui/core/answers.h"
#include "gui/jobs/background_job.h"

class QLabel;
class QListWidget;
class QPushButton;

namespace gui {

class TablePanel;

class AnswersPage : public QWidget {
  Q_OBJECT
 public:
  explicit AnswersPage(QWidget* parent = nullptr);
  void setPlan(const SharedPlan& plan);  // the chosen question is asked again
  void ask(int question);
  QListWidget* questions() const { return questions_; }
  QLabel* sentence() const { return sentence_; }
  TablePanel* table() const { return table_; }
  bool isAsking() const { return asking_.isRunning(); }

 Q_SIGNALS:
  void planWanted(const sim::ParallelPlan& plan);

 private:
  void build();
  void show(Answer answer);
  void takeVariant();

  SharedPlan plan_;
  Answer answer_;
  BackgroundJob asking_;
  QListWidget* questions_;
  QLabel* sentence_;
  TablePanel* table_;
  QPushButton* take_;
};

}  // namespace gui
