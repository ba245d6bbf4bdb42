// Journey 6: starts the chosen plan here and follows it: loss, tokens a second and memory by step, the timeline as it grows, and what it
// says. Closing the window leaves it running.
#pragma once

#include <QWidget>

#include "gui/core/run_record.h"
#include "gui/core/run_timeline.h"
#include "gui/core/this_machine.h"
#include "gui/jobs/background_job.h"
#include "gui/jobs/run_process.h"
#include "gui/jobs/tool_process.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace gui {

class Actions;
class LineView;
class TablePanel;
class TimelineView;

class RunPage : public QWidget {
  Q_OBJECT
 public:
  explicit RunPage(QWidget* parent = nullptr);
  void setPlan(const sim::ParallelPlan& plan);
  void setData(const QString& path);  // tokens
  void setRequest(const RunRequest& request);
  RunRequest request() const;
  void start();
  void resume();  // up to the number of steps that the form says
  void follow(const QString& folder);
  LineView* speed() const { return speed_; }
  LineView* memory() const { return memory_; }
  void keepHistory(const QString& path);    // of runs: read from there, written there from now on
  void noteRun(const QString& folder);      // in the history, as it is now
  void setMachine(const Machine& machine);  // that shall run the plan; default: this one
  QLineEdit* dataLine() const { return data_; }
  QComboBox* launcher() const { return launcher_; }
  ToolProcess* scripting() { return &scripting_; }
  QString words() const;  // what the run says, or the script for another launcher
  RunProcess* process() { return &process_; }
  LineView* loss() const { return loss_; }
  TimelineView* timeline() const { return timeline_; }
  QPushButton* startButton() const { return start_; }
  QPushButton* stopButton() const { return stop_; }
  QPushButton* resumeButton() const { return resume_; }
  QPushButton* exportButton() const { return export_; }
  QPushButton* scriptButton() const { return script_button_; }
  TablePanel* history() const { return history_; }
  QString stateText() const;
  void addActions(Actions& actions);                // of the Run menu
  void setExports(const QList<QAction*>& exports);  // of the plan, for other programs to train by

 Q_SIGNALS:
  void failed(const gui::Message& message);
  void dataWanted();     // to be chosen
  void exampleWanted();  // as data
  void compareRequested(const QString& folder);
  void runOpened(const QString& folder);  // of the history
  void formChanged();
  void buttonsChanged();

 private:
  void build();
  QWidget* form();
  void showScript(int launcher);
  void refresh();
  void refreshButtons();
  void drawTimeline();
  void showHistory();
  void expect(const std::optional<sim::ParallelPlan>& plan);  // what its predictions say, on the charts

  std::optional<sim::ParallelPlan> plan_;
  RunProcess process_;
  ToolProcess scripting_;
  QString script_;  // for the chosen launcher; empty: none was asked for
  QLineEdit *data_, *folder_, *command_;
  QComboBox* launcher_;
  QSpinBox* steps_;
  QPushButton *example_, *start_, *stop_, *resume_, *compare_, *export_, *script_button_;
  QLabel *state_, *elsewhere_;  // elsewhere: why the plan cannot be started here
  LineView *loss_, *speed_, *memory_;
  TimelineView* timeline_;
  QPlainTextEdit* words_;
  TablePanel* history_;
  QString history_path_;
  std::vector<RunRecord> records_;
  Machine machine_ = thisMachine();
  BackgroundJob noting_, drawing_;
  bool redraw_ = false;  // there is news since the drawing began
  SharedRunTimeline shown_;
};

}  // namespace gui
