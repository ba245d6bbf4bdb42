// Journey 6: starts the chosen plan here and follows it: loss and tokens a second by step, and what it says.
// Closing the window leaves it running.
#pragma once

#include <QWidget>

#include "gui/run_process.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace gui {

class LineView;

class RunPage : public QWidget {
  Q_OBJECT
 public:
  explicit RunPage(QWidget* parent = nullptr);
  void setPlan(const sim::ParallelPlan& plan);
  void setRequest(const RunRequest& request);
  RunRequest request() const;
  void start();
  void follow(const QString& folder);
  RunProcess* process() { return &process_; }
  LineView* loss() const { return loss_; }

 Q_SIGNALS:
  void failed(const gui::Message& message);
  void compareRequested(const QString& folder);

 private:
  void build();
  QWidget* form();
  void refresh();

  std::optional<sim::ParallelPlan> plan_;
  RunProcess process_;
  QLineEdit *data_, *folder_, *command_;
  QSpinBox* steps_;
  QPushButton *start_, *stop_, *compare_;
  QLabel* state_;
  LineView *loss_, *speed_;
  QPlainTextEdit* words_;
};

}  // namespace gui
