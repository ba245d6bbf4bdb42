#include "sim/goodput/goodput.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include "sim/goodput/expected_goodput.h"
#include "sim/units/at.h"
#include "sim/units/random_bits.h"

namespace sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kPatience = 100;  // times the useful time
constexpr double kSecondsADay = 86400;

struct Outcome {
  double time = 0, slowed = 0, saving = 0, lost = 0, restarting = 0, waiting = 0;
  std::int64_t failures = 0;
  bool finished = false;
};

// One training: from event to event, in seconds; progress in steps.
class Run {
 public:
  Run(const Training& training, std::uint64_t seed)
      : training_(training), key_{seed}, give_up_(kPatience * static_cast<double>(training.steps) * training.step.usual.count()) {
    const Reliability& rates = training.reliability;
    const double mtbf = rates.mean_time_between_failures.count();
    failure_gap_ = mtbf > 0 ? mtbf / training.devices : kNever;
    const double stragglers = rates.stragglers_per_day * training.devices / kSecondsADay;
    straggler_gap_ = stragglers > 0 && rates.straggling.count() > 0 && !training.step.straggling.empty() ? 1 / stragglers : kNever;
    active_.assign(training.step.straggling.size(), 0);
    next_failure_ = draw(failure_gap_);
    next_straggler_ = draw(straggler_gap_);
  }

  Outcome finish() && {
    while (progress_ < static_cast<double>(training_.steps) && outcome_.time < give_up_) advance();
    outcome_.finished = progress_ >= static_cast<double>(training_.steps);
    return outcome_;
  }

 private:
  struct Straggler {
    double end = 0;
    std::size_t stage = 0;
    bool operator<(const Straggler& other) const { return end > other.end; }  // the first to end on top
  };

  // From a number uniform over (0, 1], 53 bits of it.
  double draw(double mean) {
    if (mean == kNever) return kNever;
    const double uniform = (static_cast<double>(random_bits(key_, drawn_++) >> 11) + 1) * 0x1p-53;
    return -std::log(uniform) * mean;
  }
  double step_time() const {
    double time = training_.step.usual.count();
    for (std::size_t stage = 0; stage < active_.size(); ++stage)
      if (active_[stage] > 0) time = std::max(time, training_.step.straggling[stage].count());
    return time;
  }
  double next_stop() const {  // steps: the next checkpoint, or the end
    const auto interval = static_cast<double>(training_.reliability.checkpoint_interval);
    const auto all = static_cast<double>(training_.steps);
    return interval > 0 ? std::min(saved_ + interval, all) : all;
  }

  void advance();
  void compute(double until);
  void save();
  void fail();
  double wait_for_a_node(double time);
  void start_straggler();

  const Training& training_;
  RandomKey key_;
  std::uint64_t drawn_ = 0;
  double give_up_;
  double failure_gap_, straggler_gap_, next_failure_, next_straggler_;
  double progress_ = 0, saved_ = 0, begun_ = 0;  // begun_: when the steps since the checkpoint began
  double unsaved_slowed_ = 0;                    // of the time since then: what stragglers added
  std::priority_queue<Straggler> stragglers_;
  std::priority_queue<double, std::vector<double>, std::greater<>> repairs_;  // when nodes are back
  std::vector<std::int64_t> active_;                                          // stragglers by stage
  Outcome outcome_;
};

void Run::advance() {
  const double end_of_straggling = stragglers_.empty() ? kNever : stragglers_.top().end;
  const double stop = outcome_.time + (next_stop() - progress_) * step_time();
  const double next = std::min({stop, next_failure_, next_straggler_, end_of_straggling});
  compute(next);
  if (next == stop) {
    progress_ = next_stop();
    save();
  } else if (next == next_failure_) {
    fail();
  } else if (next == next_straggler_) {
    start_straggler();
  }
  for (; !stragglers_.empty() && stragglers_.top().end <= outcome_.time; stragglers_.pop()) --active_[stragglers_.top().stage];
}

void Run::compute(double until) {
  const double passed = until - outcome_.time, time = step_time();
  progress_ += passed / time;
  unsaved_slowed_ += passed * (1 - training_.step.usual.count() / time);
  outcome_.time = until;
}

// A failure while saving takes all since the checkpoint before with it.
void Run::save() {
  const bool ends = progress_ >= static_cast<double>(training_.steps);
  const double length = training_.reliability.checkpoint_interval > 0 ? training_.reliability.save.count() : 0;
  if (next_failure_ < outcome_.time + length) {
    outcome_.time = next_failure_;
    if (ends) progress_ = std::nextafter(progress_, 0.0);
    return fail();
  }
  outcome_.time += length;
  outcome_.saving += length;
  outcome_.slowed += unsaved_slowed_;
  unsaved_slowed_ = 0;
  saved_ = progress_;
  begun_ = outcome_.time;
}

void Run::fail() {
  outcome_.lost += outcome_.time - begun_;
  progress_ = saved_;
  unsaved_slowed_ = 0;
  const double down_since = outcome_.time, waited = outcome_.waiting;
  double up = 0;
  do {
    ++outcome_.failures;
    const double waits = wait_for_a_node(next_failure_);
    outcome_.waiting += waits;
    up = next_failure_ + waits + training_.reliability.restart.count();
    next_failure_ += waits + draw(failure_gap_);  // nothing fails that stands still
  } while (next_failure_ < up && next_failure_ < give_up_);
  outcome_.time = up;
  outcome_.restarting += up - down_since - (outcome_.waiting - waited);
  begun_ = up;
}

// How long, when one has failed at that time.
double Run::wait_for_a_node(double time) {
  if (training_.reliability.repair.count() <= 0) return 0;
  repairs_.push(time + draw(training_.reliability.repair.count()));
  while (repairs_.top() <= time) repairs_.pop();
  if (std::ssize(repairs_) <= training_.reliability.spares) return 0;
  const double back = repairs_.top();
  repairs_.pop();
  return back - time;
}

// On the stage of a rank drawn evenly: every stage has as many.
void Run::start_straggler() {
  const auto stage = static_cast<std::size_t>(random_bits(key_, drawn_++) % active_.size());
  stragglers_.push({outcome_.time + draw(training_.reliability.straggling.count()), stage});
  ++active_[stage];
  next_straggler_ = outcome_.time + draw(straggler_gap_);
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  const auto at = [&](double share) { return sim::at(values, std::lround(share * static_cast<double>(values.size() - 1))); };
  return {sum / static_cast<double>(values.size()), at(0.1), at(0.9)};
}

}  // namespace

std::int64_t best_interval(const Training& training) {
  Reliability rates = training.reliability;
  rates.checkpoint_interval = 0;
  return ExpectedGoodput(rates, training.devices).interval(training.step.usual);
}

double most_events(const Training& training) {
  const Reliability& rates = training.reliability;
  const double steps = static_cast<double>(training.steps), mtbf = rates.mean_time_between_failures.count();
  const double failures = mtbf > 0 ? training.devices / mtbf : 0,
               stragglers = 2 * rates.stragglers_per_day * training.devices / kSecondsADay;  // they end, too
  const double checkpoints = rates.checkpoint_interval > 0 ? steps / static_cast<double>(rates.checkpoint_interval) : 0;
  return checkpoints + kPatience * steps * training.step.usual.count() * (failures + stragglers);
}

Goodput train(const Training& training) {
  const double useful = static_cast<double>(training.steps) * training.step.usual.count();
  Goodput goodput;
  goodput.useful = useful;
  goodput.best_interval = best_interval(training);
  std::vector<double> seconds, share, failures;
  for (std::int32_t draw = 0; draw < training.draws; ++draw) {
    const Outcome outcome = Run(training, training.seed * 1'000'003 + static_cast<std::uint64_t>(draw)).finish();
    goodput.unfinished += outcome.finished ? 0 : 1;
    seconds.push_back(outcome.time);
    share.push_back(outcome.finished ? useful / outcome.time : 0);
    failures.push_back(static_cast<double>(outcome.failures));
    goodput.slowed += outcome.slowed / training.draws;
    goodput.saving += outcome.saving / training.draws;
    goodput.lost += outcome.lost / training.draws;
    goodput.restarting += outcome.restarting / training.draws;
    goodput.waiting += outcome.waiting / training.draws;
  }
  goodput.seconds = spread_of(std::move(seconds));
  goodput.share = spread_of(std::move(share));
  goodput.failures = spread_of(std::move(failures));
  return goodput;
}

}  // namespace sim
