// What stands on the Plan page until there are plans: the way from a model to a compared run, a button a step. Decides nothing; the window
// does what its buttons ask for.
#pragma once

#include <QWidget>

#include "gui/core/plan_question.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace gui {

class StartPanel : public QWidget {
  Q_OBJECT
 public:
  explicit StartPanel(QWidget* parent = nullptr);
  void setQuestion(const PlanQuestion& question, const QString& model_facts = {});  // what is known of it by now

 Q_SIGNALS:
  void modelWanted();                         // to be chosen
  void exampleChosen(const QString& config);  // a path
  void measureWanted();                       // of this machine
  void planWanted();

 private:
  QPushButton* addStep(const QString& title, const QString& text, const QString& button);

  QVBoxLayout* column_;
  QLabel *model_, *devices_;  // what was chosen
  QPushButton *plan_ = nullptr, *examples_ = nullptr;
  int steps_ = 0;
};

}  // namespace gui
