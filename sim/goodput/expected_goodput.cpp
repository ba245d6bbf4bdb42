#include "sim/goodput/expected_goodput.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

constexpr double kMostSteps = 1e15;

// Root of (1 - u) e^u = e^-d between 0 and 1, where the left side falls from 1 to 0.
double best_share(double d) {
  double low = 0, high = 1;
  for (int bit = 0; bit < 60; ++bit) {
    const double middle = (low + high) / 2;
    (std::log1p(-middle) + middle > -d ? low : high) = middle;
  }
  return low;
}

}  // namespace

double erlang_loss(const LossSystem& system) {
  double loss = 1;
  for (std::int32_t server = 1; server <= system.servers; ++server) loss = system.load * loss / (server + system.load * loss);
  return loss;
}

ExpectedGoodput::ExpectedGoodput(const Reliability& reliability, std::int32_t devices)
    : restart_(reliability.restart.count()), save_(reliability.save.count()), given_interval_(reliability.checkpoint_interval) {
  if (reliability.mean_time_between_failures.count() <= 0) return;
  mean_gap_ = reliability.mean_time_between_failures.count() / devices;
  best_ = mean_gap_ * best_share(save_ / mean_gap_);
  if (reliability.repair.count() > 0) waiting_ = erlang_loss({reliability.spares + 1, reliability.repair.count() / mean_gap_});
}

double ExpectedGoodput::of(Seconds usual, double interval) const {
  if (mean_gap_ == 0) return usual.count() + (interval > 0 ? save_ / interval : 0);
  return mean_gap_ * std::exp(restart_ / mean_gap_) * std::expm1((interval * usual.count() + save_) / mean_gap_) / interval /
         (1 - waiting_);
}

// What an interval takes falls and then rises with its length.
std::int64_t ExpectedGoodput::interval(Seconds usual) const {
  if (given_interval_ > 0 || mean_gap_ == 0) return given_interval_;
  const double fewer = std::clamp(std::floor(best_ / usual.count()), 1.0, kMostSteps), more = fewer + 1;
  return static_cast<std::int64_t>(of(usual, more) < of(usual, fewer) ? more : fewer);
}

Seconds ExpectedGoodput::step(Seconds usual) const { return Seconds(of(usual, static_cast<double>(interval(usual)))); }

}  // namespace sim
