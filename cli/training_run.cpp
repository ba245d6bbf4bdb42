#include "cli/training_run.h"

#include <fmt/format.h>

#include <utility>

#include "cli/reliability.h"
#include "cli/table.h"
#include "sim/engine/disturbance.h"
#include "sim/units/counted.h"
#include "sim/units/input_error.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

using Violations = std::vector<sim::Violation>;

// No comparison holds for NaN.
double within(const std::string& option, double value, std::pair<double, double> range, Violations& violations) {
  if (!(value >= range.first && value <= range.second))
    violations.push_back({option, fmt::format("{} is no number from {} to {}", value, range.first, range.second), "correct it"});
  return value;
}

// What is drawn one by one. A training that goes on failing is followed for kPatience times its useful time.
void require_drawable(const sim::Training& training) {
  constexpr double kMostEvents = 1e9;  // a minute
  const double events = sim::most_events(training) * training.draws;
  if (events <= kMostEvents) return;
  throw sim::InputError(
      "", {{"--steps",
            fmt::format("{} trainings of {} steps may take {:.1e} failures, stragglers and checkpoints to draw, beyond {:.0e}",
                        training.draws, training.steps, events, kMostEvents),
            "use fewer --draws, a longer --mtbf, fewer --stragglers or a longer --checkpoint-every"}});
}

sim::Seconds straggling_step(const sim::ModelGraph& model, const sim::ParallelPlan& plan, sim::StageIndex stage, double factor) {
  const sim::Disturbances slow{.ranks = {{plan.mesh.rank_of({.data = 0, .stage = stage, .tensor = 0}), factor}}, .links = {}};
  return sim::to_seconds(
      sim::simulate(model, plan, sim::lower(model, plan, sim::fold_of(slow, plan)), sim::Detail::Summary, slow).step_time);
}

std::string part(double seconds, const sim::Goodput& goodput) {
  return fmt::format("{:>6.2f} %   {}", 100 * seconds / goodput.seconds.mean, sim::duration_text(sim::Seconds(seconds)));
}

}  // namespace

sim::Training training_of(const TrainingOptions& options, const sim::ModelGraph& model, const sim::ParallelPlan& plan, sim::Seconds usual) {
  Violations violations;
  sim::Training training;
  training.steps = options.steps;
  training.devices = plan.mesh.ranks();
  training.seed = options.seed;
  training.draws = options.draws;
  training.step.usual = usual;
  sim::Reliability& rates = training.reliability = reliability_of(options, violations);
  rates.straggling = duration_of("--straggler-time", options.straggler_time, violations);
  rates.stragglers_per_day = within("--stragglers", options.stragglers_per_day, {0, 1e6}, violations);
  within("--straggler-factor", options.straggler_factor, {1, 1e6}, violations);
  if (!violations.empty()) throw sim::InputError("", violations);
  for (sim::StageIndex stage(0); rates.stragglers_per_day > 0 && stage.value() < plan.mesh.pipeline; ++stage)
    training.step.straggling.push_back(straggling_step(model, plan, stage, options.straggler_factor));
  rates.checkpoint_interval = options.checkpoint_interval > 0 ? options.checkpoint_interval : sim::best_interval(training);
  require_drawable(training);
  return training;
}

std::string goodput_text(const sim::Training& training, const sim::Goodput& goodput) {
  const auto time = [](double seconds) { return sim::duration_text(sim::Seconds(seconds)); };
  const std::int64_t interval = training.reliability.checkpoint_interval;
  std::string out = fmt::format("\n{} on {}, {} drawn (seed {})\n", sim::counted(training.steps, "step"),
                                sim::counted(training.devices, "device"), sim::counted(training.draws, "training"), training.seed);
  out += table_text(
      {{"time to train",
        fmt::format("{}; 80 % between {} and {}", time(goodput.seconds.mean), time(goodput.seconds.low), time(goodput.seconds.high))},
       {"goodput", fmt::format("{}; 80 % between {} and {}   useful steps x undisturbed step / time", sim::percent(goodput.share.mean),
                               sim::percent(goodput.share.low), sim::percent(goodput.share.high))},
       {"failures",
        fmt::format("{:.1f}; 80 % between {:.0f} and {:.0f}", goodput.failures.mean, goodput.failures.low, goodput.failures.high)},
       {"checkpoints", interval == 0 ? "none" : fmt::format("every {} steps; {} lose least (Daly)", interval, goodput.best_interval)},
       {"of it: useful", part(goodput.useful, goodput)},
       {"  slowed by stragglers", part(goodput.slowed, goodput)},
       {"  saving", part(goodput.saving, goodput)},
       {"  lost and done again", part(goodput.lost, goodput)},
       {"  restarting", part(goodput.restarting, goodput)},
       {"  waiting for repairs", part(goodput.waiting, goodput)}});
  if (goodput.unfinished > 0)
    out += fmt::format("{} of {} trainings were given up after a hundred times the useful time\n", goodput.unfinished, training.draws);
  return out;
}

}  // namespace cli
