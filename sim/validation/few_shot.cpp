#include "sim/validation/few_shot.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>

#include "sim/calibration/belief.h"
#include "sim/calibration/step_view.h"

namespace sim {
namespace {

constexpr std::size_t kRest = 3;  // rows to predict, at least

class Draws {  // splitmix64 (Steele, Lea, Flood 2014): the same on every machine
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t limit) {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<std::size_t>((z ^ (z >> 31)) % limit);
  }

 private:
  std::uint64_t state_;
};

// The first `count` of a shuffle that every compiler makes alike.
std::vector<std::size_t> drawn(std::size_t of, std::size_t count, Draws& random) {
  std::vector<std::size_t> positions(of);
  for (std::size_t at = 0; at < of; ++at) positions[at] = at;
  for (std::size_t at = 0; at < count; ++at) std::swap(positions[at], positions[at + random.below(of - at)]);
  positions.resize(count);
  return positions;
}

PredictedRow predicted(const MeasuredRun& run, const StepView& step, const Belief& belief) {
  PredictedRow row{.id = run.id, .error = {}, .estimate = {}, .assumed = {}, .speed = whose_speed(run.row.plan.cluster)};
  const Seconds time(believed_seconds(belief, step));
  row.estimate.time = time;
  const double factor = interval_factor(believed_width(belief, step));
  row.estimate.low = time / factor;
  row.estimate.high = time * factor;
  return row;
}

// Nothing is learned of memory here.
RowTarget time_alone(RowTarget target) {
  target.memory_gib.reset();
  target.out_of_memory.reset();
  return target;
}

void add_draws(const std::vector<const MeasuredRun*>& runs, const std::vector<StepView>& views, const FewShot& asked,
               ValidationRows& rows) {
  Draws random(asked.seed);
  for (std::size_t draw = 0; draw < asked.draws; ++draw) {
    const std::vector<std::size_t> given = drawn(runs.size(), asked.given, random);
    std::vector<MeasuredView> evidence;
    for (const std::size_t at : given) evidence.push_back({.step = &views[at], .seconds = *runs[at]->target.time});
    const Belief belief = believe(evidence);
    for (std::size_t at = 0; at < runs.size(); ++at) {
      if (std::find(given.begin(), given.end(), at) != given.end()) continue;
      rows.predictions.push_back(predicted(*runs[at], views[at], belief));
      rows.targets.push_back(time_alone(runs[at]->target));
    }
  }
}

}  // namespace

ValidationRows few_shot(const MeasuredRuns& measured, const FewShot& asked, const std::function<void(SourcesLeftOut)>& progress) {
  std::map<std::string, std::vector<const MeasuredRun*>> sources;
  for (const MeasuredRun& run : measured.runs) sources[run.target.source].push_back(&run);
  std::erase_if(sources, [&](const auto& one) { return one.second.size() < asked.given + kRest; });
  ValidationRows rows;
  SourcesLeftOut heard{.done = 0, .all = static_cast<std::int64_t>(sources.size())};
  const auto score_source = [&](const std::string& source, const FittedProfiles& profiles) {
    const auto found = sources.find(source);
    if (found == sources.end()) return;
    if (progress) progress(heard);
    ++heard.done;
    std::vector<StepView> views(found->second.size());
    tbb::parallel_for(std::size_t{0}, views.size(), [&](std::size_t at) {
      const MeasuredRun& run = *found->second[at];
      views[at] = step_view(PlannedStep(run.row.plan), profiles.stacks.at(run.stack()), profiles.parts.at(run.row.part).kernels);
    });
    add_draws(found->second, views, asked, rows);
  };
  if (asked.leave_out_each)
    fit_without_each(measured, score_source);
  else
    for (const auto& [source, runs] : sources) score_source(source, measured.profiles);
  return rows;
}

}  // namespace sim
