// Starts `meshwright run` so that it outlives the window: detached, in a session of its own, its words beside the run folder. Follows it by
// what it writes there. Finds a run again by folder, process id and start time.
#pragma once

#include <QObject>
#include <QTimer>
#include <vector>

#include "gui/core/metrics.h"
#include "gui/jobs/message.h"
#include "sim/plan/parallel_plan.h"

namespace gui {

struct RunRequest {
  QString data;    // token file
  QString folder;  // of the run; must not hold one
  int steps = 20;
  bool resume = false;  // goes on from the folder's last checkpoint, by the plan that lies there
};

class RunProcess : public QObject {
  Q_OBJECT
 public:
  explicit RunProcess(QObject* parent = nullptr);
  void setProgram(const QString& program) { program_ = program; }  // default: meshwright beside this program
  QStringList command(const RunRequest& request) const;
  QString commandText(const RunRequest& request) const;  // as a person would type it
  // Words for `meshwright` that print the command or job script of another launcher; the plan is written for it. Empty: refused, and told.
  QStringList scriptCommand(const sim::ParallelPlan& plan, const RunRequest& request, const QString& launcher);

  void start(const sim::ParallelPlan& plan, const RunRequest& request);
  void follow(const QString& folder);  // of a run that somebody started, this window or an earlier one
  void stop();                         // asks it to write a checkpoint and end
  bool isAlive() const;
  const std::vector<StepMetrics>& steps() const { return metrics_.steps(); }
  const QString& folder() const { return folder_; }
  std::int64_t asked() const { return asked_; }  // steps; 0: not known, somebody else started it
  QString words() const;                         // what it said
  bool canResume() const;                        // it has ended and left a checkpoint

 Q_SIGNALS:
  void changed();  // new steps, or it began or ended
  void failed(const gui::Message& message);

 private:
  bool writePlan(const sim::ParallelPlan& plan, const RunRequest& request);  // beside the run folder; false: refused, and told
  QString planFile(const RunRequest& request) const;
  void look();
  void tellWhyItEnded();

  QString program_, folder_;
  qint64 pid_ = 0;
  std::int64_t asked_ = 0;
  QByteArray started_;  // of that process: a reused id is another process
  bool was_alive_ = false;
  MetricsFollower metrics_;
  QTimer timer_;
};

}  // namespace gui
