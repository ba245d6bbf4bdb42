#include "gui/session.h"

#include <fmt/format.h>

#include <QCryptographicHash>
#include <QFile>
#include <QStandardPaths>
#include <filesystem>

#include "gui/import/run_bundle.h"
#include "gui/import/trace_kernels.h"
#include "planner/search.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

constexpr int kProgressEvery = 100, kLookEvery = 500;  // milliseconds

// Whoever lets go of it last need not wait: a thousand ranks take a tenth of a second to forget.
template <class Value>
std::shared_ptr<const Value> forgottenBeside(std::shared_ptr<const Value> value) {
  const Value* const plain = value.get();
  return {plain, [held = std::move(value)](const Value*) mutable { QThreadPool::globalInstance()->start([last = std::move(held)] {}); }};
}

sim::Seconds since(const QElapsedTimer& clock) { return sim::Seconds(1e-3 * static_cast<double>(clock.elapsed())); }

// Beside the window's other caches, in a folder of the bundle's content: opened again, it is the same run.
QString bundleFolder(const QString& path) {
  QFile file(path);
  QCryptographicHash hash(QCryptographicHash::Sha1);
  if (!file.open(QIODevice::ReadOnly) || !hash.addData(&file))
    throw sim::InputError(path.toStdString(), {{"", "cannot be read", "check that it is a file and that you may read it"}});
  return QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/bundles/") +
         QString::fromLatin1(hash.result().toHex());
}

}  // namespace

Session::Session(QObject* parent) : QObject(parent) {
  progress_timer_.setInterval(kProgressEvery);
  connect(&progress_timer_, &QTimer::timeout, this, [this] { Q_EMIT progressed({.done = done_, .all = all_}, since(asked_)); });
  connect(&search_, &BackgroundJob::runningChanged, this, [this](bool running) {
    running ? progress_timer_.start() : progress_timer_.stop();
    Q_EMIT searching(running);
  });
  opening_timer_.setInterval(kProgressEvery);
  connect(&opening_timer_, &QTimer::timeout, this, &Session::tellOpening);
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
  std::vector<std::pair<QString, bool>> changed;
  for (auto at = watched_.begin(); at != watched_.end();) {
    const FileStamp now = stampOf(at->first);
    if (now == at->second) {
      ++at;
      continue;
    }
    changed.emplace_back(QString::fromStdString(at->first), !now.exists());
    at = watched_.erase(at);
  }
  for (const auto& [path, is_gone] : changed) Q_EMIT fileChanged(path, is_gone);
}

void Session::tellOpening() {
  if (!loading_.isRunning() && !reading_.isRunning()) return opening_timer_.stop();
  const std::shared_ptr<LoadProgress>& progress = reading_.isRunning() ? snapshot_ : opening_;
  if (progress && progress->all > 0)
    Q_EMIT opening(static_cast<double>(progress->done) / static_cast<double>(progress->all), since(opened_));
}

void Session::cancel() {
  search_.cancel();
  for (const std::shared_ptr<LoadProgress>& progress : {opening_, snapshot_})
    if (progress) progress->cancelled = true;
}

bool Session::isWorking() const { return search_.isRunning() || simulation_.isRunning() || loading_.isRunning() || reading_.isRunning(); }

void Session::ask(const PlanQuestion& question) {
  done_ = all_ = 0;
  asked_.start();
  search_.start([this, question](const std::atomic<bool>& cancelled) -> BackgroundJob::Finish {
    const planner::SearchRequest request = searchRequest(question);
    auto answer = std::make_shared<PlanAnswer>();
    answer->limit = request.memory_limit.value_or(sim::usable_memory(request.cluster));
    const auto progress = [this, &cancelled](planner::SearchProgress now) {
      if (cancelled) return;  // another search counts by now
      done_ = now.done;
      all_ = now.all;
    };
    answer->result = planner::search(request, progress, &cancelled);
    return [this, answer] { Q_EMIT answered(answer); };
  });
}

void Session::show(const sim::ParallelPlan& plan, Origin origin) {
  wanted_ = plan;
  Q_EMIT planChosen(plan);
  simulateWanted(origin == Origin::Turned ? plan_ : nullptr);
}

void Session::showEveryRank(bool every) {
  ranks_ = every ? Ranks::OneByOne : Ranks::Folded;
  if (wanted_) simulateWanted(nullptr);
}

// However many ranks there are, they are seen at once: each shows its class. Where they have to be simulated one by one, folded ones come first.
void Session::simulateWanted(const SharedPlan& before) { simulate(foldsExactly(*wanted_) ? ranks_ : Ranks::Folded, before); }

void Session::simulate(Ranks ranks, const SharedPlan& before) {
  simulation_.start([this, before, plan = *wanted_, ranks](const std::atomic<bool>& cancelled) -> BackgroundJob::Finish {
    const SharedPlan simulated = forgottenBeside(simulatePlan(plan, ranks, &cancelled));
    return [this, simulated, before, ranks] {
      plan_ = simulated;
      Q_EMIT planReady(simulated, before);
      if (ranks == ranks_) {
        if (ranks == Ranks::OneByOne) Q_EMIT unfolding(0);
        return;
      }
      Q_EMIT unfolding(simulated->plan.mesh.ranks());
      simulate(ranks_, before);
    };
  });
}

void Session::openRun(const QString& folder) {
  loading_.start([this, path = folder.toStdString()](const std::atomic<bool>&) -> BackgroundJob::Finish {
    const SharedRun run = forgottenBeside(loadRun(path));
    return [this, run] {
      run_ = run;
      watch({run->folder + "/plan.json", run->folder + '/' + sim::trace_file_name(sim::Rank(0))});
      Q_EMIT runReady(run);
    };
  });
}

void Session::calibrate(const SharedRun& run) {
  loading_.start([this, run](const std::atomic<bool>&) -> BackgroundJob::Finish {
    const Calibration calibration = calibrateBy(*run);
    return [this, calibration] {
      Q_EMIT calibrated(calibration);
      ask(calibration.next);
    };
  });
}

std::shared_ptr<LoadProgress> Session::begin(std::shared_ptr<LoadProgress>& progress) {
  if (progress) progress->cancelled = true;
  opened_.start();
  opening_timer_.start();
  return progress = std::make_shared<LoadProgress>();
}

void Session::openSnapshot(const std::string& path) {
  reading_.start([this, path, progress = begin(snapshot_)](const std::atomic<bool>&) -> BackgroundJob::Finish {
    const SharedSnapshot snapshot = forgottenBeside(importSnapshot(path, *progress));
    return [this, snapshot, path] {
      watch({path});
      Q_EMIT snapshotReady(snapshot);
    };
  });
}

void Session::openBundle(const QString& path) {
  loading_.start([this, path](const std::atomic<bool>&) -> BackgroundJob::Finish {
    const QString folder = bundleFolder(path);
    unpackBundle(path.toStdString(), folder.toStdString());
    return [this, folder] { Q_EMIT unpacked(folder); };
  });
}

void Session::joinTrace(const SharedTrace& trace) {
  if (!plan_) return;
  loading_.start([this, trace, plan = plan_](const std::atomic<bool>&) -> BackgroundJob::Finish {
    std::string name = std::filesystem::path(trace->files.front().path).filename().string();
    if (trace->files.size() > 1) name = fmt::format("{} and {} more", name, trace->files.size() - 1);
    const SharedTraceStep step = gui::joinTrace(*plan, name, kernelsOfStep(*trace));
    return [this, step, plan] { Q_EMIT traceJoined(step, plan); };
  });
}

void Session::openTrace(const std::vector<std::string>& paths) {
  loading_.start([this, paths, progress = begin(opening_)](const std::atomic<bool>&) -> BackgroundJob::Finish {
    const SharedTrace trace = forgottenBeside(importTrace(paths, *progress));
    return [this, trace, paths] {
      watch(paths);
      Q_EMIT traceReady(trace);
    };
  });
}

}  // namespace gui
