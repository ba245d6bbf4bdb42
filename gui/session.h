// What the window works on: the planner's answer, the chosen plan simulated, the opened run. Asks for each in the background and tells when
// it is there; the pages show what they are told. Knows no page.
#pragma once

#include <QObject>
#include <QTimer>
#include <map>

#include "gui/core/calibration.h"
#include "gui/core/file_stamp.h"
#include "gui/core/last_answer.h"
#include "gui/core/plan_question.h"
#include "gui/core/trace_join.h"
#include "gui/import/imported_trace.h"
#include "gui/import/memory_snapshot.h"
#include "gui/jobs/background_job.h"
#include "gui/pages/turn_command.h"

namespace gui {

using SharedAnswer = std::shared_ptr<const PlanAnswer>;

class Session : public QObject {
  Q_OBJECT
 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  void ask(const PlanQuestion& question);
  void cancel();  // the search, what is being opened, ranks that are simulated one by one
  bool isSearching() const { return search_.isRunning(); }

  enum class Origin { Chosen, Turned };  // Turned: an edit of the plan before, which stays as a ghost
  void show(const sim::ParallelPlan& plan, Origin origin);
  void showEveryRank(bool every);
  bool showsEveryRank() const { return ranks_ == Ranks::OneByOne; }
  // As a step of undo: from one plan to another.
  std::unique_ptr<TurnCommand> turn(const sim::ParallelPlan& before, const sim::ParallelPlan& after, Origin origin,
                                    TurnCommand::Turned turned = TurnCommand::Turned::Now);
  const std::optional<sim::ParallelPlan>& wanted() const { return wanted_; }  // shown, or about to be
  const SharedPlan& plan() const { return plan_; }                            // shown; may be null

  void openRun(const QString& folder);
  const SharedRun& run() const { return run_; }
  void calibrate(const SharedRun& run);                   // and asks again with the corrected profile
  void openTrace(const std::vector<std::string>& paths);  // one a rank
  void joinTrace(const SharedTrace& trace);               // with the plan that is shown
  void openSnapshot(const std::string& path);
  void openBundle(const QString& path);

 Q_SIGNALS:
  void searching(bool running);
  void progressed(const planner::SearchProgress& progress, double share);  // of all searches that the question takes
  void answered(const gui::SharedAnswer& answer);
  void planChosen(const sim::ParallelPlan& plan);  // at once
  void planReady(const gui::SharedPlan& plan, const gui::SharedPlan& before);
  void planRefused(const gui::Message& why);
  void runReady(const gui::SharedRun& run);
  void calibrated(const gui::Calibration& calibration);
  void traceJoined(const gui::SharedTraceStep& step, const gui::SharedPlan& plan);
  void traceReady(const gui::SharedTrace& trace);
  void unpacked(const QString& run_folder);  // of a bundle
  void snapshotReady(const gui::SharedSnapshot& snapshot);
  void filesChanged(const QStringList& written, const QStringList& gone);  // that are shown; told once
  void failed(const gui::Message& message);

 private:
  void watch(const std::vector<std::string>& paths);  // as they are now
  void lookAtFiles();
  void simulateWanted(const SharedPlan& before);
  void simulate(Ranks ranks, const SharedPlan& before);

  BackgroundJob search_{this}, simulation_{this}, loading_{this},
      reading_{this};  // reading: a snapshot, beside a trace or run that is loaded
  QTimer watch_timer_;
  std::map<std::string, FileStamp> watched_;
  std::atomic<std::int64_t> done_{0}, all_{0};  // of the candidates of the newest search
  std::optional<sim::ParallelPlan> wanted_;
  SharedPlan plan_;
  SharedRun run_;
  Ranks ranks_ = Ranks::Folded;
};

}  // namespace gui
