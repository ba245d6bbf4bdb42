// The form of a planning question: model, cluster, devices, batch, sequence. Beside the pages; asks the session through its signals.
#pragma once

#include <QWidget>

#include "gui/core/plan_question.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;

namespace gui {

class QuestionPanel : public QWidget {
  Q_OBJECT
 public:
  explicit QuestionPanel(QWidget* parent = nullptr);
  QWidget* footer() const { return footer_; }  // plan, cancel, progress: stands outside of what scrolls
  QPushButton* planButton() const { return plan_; }
  PlanQuestion question() const;
  void setQuestion(const PlanQuestion& question);
  void setRunning(bool running);
  void setProgress(const planner::SearchProgress& progress, double share);

 Q_SIGNALS:
  void planRequested(const gui::PlanQuestion& question);
  void cancelRequested();
  void browseRequested();
  void changed(const gui::PlanQuestion& question);

 private:
  void buildForm();
  void buildButtons();

  QLineEdit *model_, *memory_limit_, *tokens_, *mtbf_;
  QComboBox *cluster_, *software_, *precision_, *program_, *ranking_;
  QSpinBox *devices_, *batch_, *sequence_;
  QDoubleSpinBox* risk_;
  QCheckBox* fewer_;
  QPushButton *plan_, *cancel_;
  QProgressBar* progress_;
  QWidget* footer_;
};

}  // namespace gui
