#include "gui/session.h"

#include <fmt/format.h>

#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <filesystem>

#include "gui/import/run_bundle.h"
#include "gui/import/trace_kernels.h"
#include "planner/fewer.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

constexpr int kLookEvery = 500;  // milliseconds

// Whoever lets go of it last need not wait: a thousand ranks take a tenth of a second to forget.
template <class Value>
std::shared_ptr<const Value> forgottenBeside(std::shared_ptr<const Value> value) {
  const Value* const plain = value.get();
  return {plain, [held = std::move(value)](const Value*) mutable { QThreadPool::globalInstance()->start([last = std::move(held)] {}); }};
}

QString nameOf(const std::string& path) { return QFileInfo(QString::fromStdString(path)).fileName(); }

// Beside the window's other caches, in a folder of the bundle's content: opened again, it is the same run.
QString bundleFolder(const QString& path, const ProgressPart& hashed) {
  constexpr qint64 kOften = 1 << 24;
  QFile file(path);
  QCryptographicHash hash(QCryptographicHash::Sha1);
  bool is_read = file.open(QIODevice::ReadOnly);
  while (is_read && !file.atEnd()) {
    hashed({.done = file.pos(), .all = file.size()});
    const QByteArray part = file.read(kOften);
    is_read = !part.isEmpty();
    hash.addData(part);
  }
  if (!is_read) throw sim::InputError(path.toStdString(), {{"", "cannot be read", "check that it is a file and that you may read it"}});
  return QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/bundles/") +
         QString::fromLatin1(hash.result().toHex());
}

}  // namespace

Session::Session(QObject* parent) : QObject(parent) {
  connect(&search_, &BackgroundJob::runningChanged, this, &Session::searching);
  connect(&search_, &BackgroundJob::progressed, this, [this](double share) { Q_EMIT progressed({.done = done_, .all = all_}, share); });
  connect(&simulation_, &BackgroundJob::failed, this, &Session::planRefused);
  watch_timer_.setInterval(kLookEvery);
  connect(&watch_timer_, &QTimer::timeout, this, &Session::lookAtFiles);
  for (BackgroundJob* job : {&search_, &loading_, &reading_}) connect(job, &BackgroundJob::failed, this, &Session::failed);
}

Session::~Session() { cancel(); }

void Session::watch(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) watched_[path] = stampOf(path);
  watch_timer_.start();
}

// By looking, not by notice of the system: files of a cluster lie on other machines.
void Session::lookAtFiles() {
  QStringList written, gone;
  for (auto at = watched_.begin(); at != watched_.end();) {
    const FileStamp now = stampOf(at->first);
    if (now == at->second) {
      ++at;
      continue;
    }
    (now.exists() ? written : gone) << QString::fromStdString(at->first);
    at = watched_.erase(at);
  }
  if (!written.isEmpty() || !gone.isEmpty()) Q_EMIT filesChanged(written, gone);
}

void Session::cancel() {
  for (BackgroundJob* job : {&search_, &loading_, &reading_}) job->cancel();
  if (!simulation_.doing().isEmpty()) simulation_.cancel();
}

void Session::ask(const PlanQuestion& question) {
  done_ = all_ = 0;
  search_.start(tr("Planning"), [this, question](Progress& progress) -> BackgroundJob::Finish {
    const planner::SearchRequest request = searchRequest(question);
    auto answer = std::make_shared<PlanAnswer>();
    answer->limit = request.memory_limit.value_or(sim::usable_memory(request.cluster));
    answer->objective = request.objective;
    answer->whole = request.whole;
    InTurn searches(std::ssize(planner::device_counts(request)));
    const auto told = [this, &progress, &searches](planner::SearchProgress now) {
      if (progress.cancelled) return;  // another search counts by now
      progress.part = searches.share({.done = now.done, .all = now.all});
      done_ = now.done;
      all_ = now.all;
    };
    answer->result = planner::search_as_asked(request, told, &progress.cancelled);
    return [this, answer] { Q_EMIT answered(answer); };
  });
}

void Session::show(const sim::ParallelPlan& plan, Origin origin) {
  wanted_ = plan;
  Q_EMIT planChosen(plan);
  simulateWanted(origin == Origin::Turned ? plan_ : nullptr);
}

std::unique_ptr<TurnCommand> Session::turn(const sim::ParallelPlan& before, const sim::ParallelPlan& after, Origin origin,
                                           TurnCommand::Turned turned) {
  return std::make_unique<TurnCommand>(
      origin == Origin::Turned ? tr("turn a knob") : tr("choose a plan"),
      [this, origin](const sim::ParallelPlan& plan) { show(plan, origin); }, before, after, turned);
}

void Session::showEveryRank(bool every) {
  ranks_ = every ? Ranks::OneByOne : Ranks::Folded;
  if (wanted_) simulateWanted(nullptr);
}

// However many ranks there are, they are seen at once: each shows its class. Where they have to be simulated one by one, folded ones come first.
void Session::simulateWanted(const SharedPlan& before) { simulate(foldsExactly(*wanted_) ? ranks_ : Ranks::Folded, before); }

// Every rank by itself takes long where it is simulated: it is named, and follows the folded plan.
void Session::simulate(Ranks ranks, const SharedPlan& before) {
  const bool is_long = ranks == Ranks::OneByOne && !foldsExactly(*wanted_);
  simulation_.start(is_long ? tr("Simulating %L1 ranks one by one").arg(wanted_->mesh.ranks()) : QString(),
                    [this, before, plan = *wanted_, ranks](Progress& progress) -> BackgroundJob::Finish {
                      const SharedPlan simulated = forgottenBeside(simulatePlan(plan, ranks, &progress));
                      progress.stopIfCancelled();
                      return [this, simulated, before, ranks] {
                        plan_ = simulated;
                        Q_EMIT planReady(simulated, before);
                        if (ranks != ranks_) simulate(ranks_, before);
                      };
                    });
}

void Session::openRun(const QString& folder) {
  loading_.start(tr("Opening %1").arg(nameOf(folder.toStdString())),
                 [this, path = folder.toStdString()](Progress& progress) -> BackgroundJob::Finish {
                   const SharedRun run = forgottenBeside(loadRun(path, {}, &progress));
                   return [this, run] {
                     run_ = run;
                     watch({run->folder + "/plan.json", run->folder + '/' + sim::trace_file_name(sim::Rank(0))});
                     Q_EMIT runReady(run);
                   };
                 });
}

void Session::calibrate(const SharedRun& run) {
  loading_.start(tr("Calibrating by %1").arg(nameOf(run->folder)), [this, run](Progress& progress) -> BackgroundJob::Finish {
    const Calibration calibration = calibrateBy(*run, &progress);
    return [this, calibration] {
      Q_EMIT calibrated(calibration);
      ask(calibration.next);
    };
  });
}

void Session::openSnapshot(const std::string& path) {
  reading_.start(tr("Opening %1").arg(nameOf(path)), [this, path](Progress& progress) -> BackgroundJob::Finish {
    const SharedSnapshot snapshot = forgottenBeside(importSnapshot(path, progress));
    return [this, snapshot, path] {
      watch({path});
      Q_EMIT snapshotReady(snapshot);
    };
  });
}

void Session::openBundle(const QString& path) {
  loading_.start(tr("Unpacking %1").arg(nameOf(path.toStdString())), [this, path](Progress& progress) -> BackgroundJob::Finish {
    const QString folder = bundleFolder(path, ProgressPart{progress, 0, 0.5});
    unpackBundle(path.toStdString(), folder.toStdString(), ProgressPart{progress, 0.5, 1});
    return [this, folder] { Q_EMIT unpacked(folder); };
  });
}

void Session::joinTrace(const SharedTrace& trace) {
  if (!plan_) return;
  std::string name = std::filesystem::path(trace->files.front().path).filename().string();
  if (trace->files.size() > 1) name = fmt::format("{} and {} more", name, trace->files.size() - 1);
  loading_.start(tr("Comparing %1 with the plan").arg(nameOf(trace->files.front().path)),
                 [this, trace, name, plan = plan_](Progress& progress) -> BackgroundJob::Finish {
                   const std::vector<TracedRank> ranks = kernelsOfStep(*trace, ProgressPart{progress, 0, 0.5});
                   const SharedTraceStep step = gui::joinTrace(*plan, name, ranks, &progress);
                   return [this, step, plan] { Q_EMIT traceJoined(step, plan); };
                 });
}

void Session::openTrace(const std::vector<std::string>& paths) {
  loading_.start(tr("Opening %1").arg(nameOf(paths.front())), [this, paths](Progress& progress) -> BackgroundJob::Finish {
    const SharedTrace trace = forgottenBeside(importTrace(paths, progress));
    return [this, trace, paths] {
      watch(paths);
      Q_EMIT traceReady(trace);
    };
  });
}

}  // namespace gui
