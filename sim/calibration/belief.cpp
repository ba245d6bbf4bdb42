#include "sim/calibration/belief.h"

#include <algorithm>
#include <cmath>

#include "sim/calibration/dense_matrix.h"

namespace sim {
namespace {

// Of stacks and parts that were fitted the shares differ by 0.04 to 0.05 in their logarithm, slowdowns by 0.15, overheads of a step by 5 ms; a network is a
// user's own. Much of that is between programs and parts, which a profile knows: a third to a half of it is left for runs of one, but all of what networks
// differ. Wider ones learn the record's own noise.
constexpr MoveKind kKinds[kMoves] = {{"pace", "everything", 0},
                                     {"matrix_share", "kernels", 0.02},
                                     {"network_share", "collectives", 0.15},
                                     {"overlap_slowdown", "collectives beside kernels", 0.05},
                                     {"host_per_kernel", "host", 1e-6},
                                     {"pipeline_sync", "host", 0.15e-3},
                                     {"step_overhead", "step", 2e-3},
                                     {"host_per_module", "host", 0.05e-3},
                                     {"host_per_experts", "host", 0.7e-3}};
constexpr double kShared = 0.5, kNear = 0.8,
                 kOwn = 0.33;   // of the width: what a source's steps miss together, alike ones, and each by itself; squares: 1
constexpr double kFreedom = 3;  // of Student's distribution
constexpr double kScales[] = {1, 2, 4, 8}, kPrices[] = {0, 2, 5, 8};  // minus the logarithm of how often sources are so wide
constexpr int kTurns = 30, kWholeTurns = 6;                           // the first with whole steps
constexpr double kStill = 1e-6;

struct Here {
  double log_time = 0;  // without pace
  Moves slope{};
};

ConstantPoint moved(const StepView& step, const Moves& moves) {
  ConstantPoint point = step.home;
  for (std::size_t at = 0; at < kStackConstants; ++at) {
    point[at] += moves[at + 1];
    if (!stack_constants()[at].divides) point[at] = std::max(point[at], 0.0);  // a time is none below zero
  }
  return point;
}

Here look(const StepView& step, const Moves& moves) {
  const ConstantPoint point = moved(step, moves);
  const auto highest = std::max_element(step.planes.begin(), step.planes.end(),
                                        [&](const StepPlane& a, const StepPlane& b) { return a.height(point) < b.height(point); });
  const double seconds = std::max(highest->height(point), 1e-9);
  Here here{.log_time = std::log(seconds), .slope = {1}};
  for (std::size_t at = 0; at < kStackConstants; ++at) here.slope[at + 1] = highest->slope[at] / seconds;
  return here;
}

// One total does not tell constants apart.
std::size_t asked_moves(const Belief& belief) { return belief.totals > 1 ? kMoves : 1; }

// Of two logarithms, beforehand and without what each misses by itself.
double together(const Belief& belief, const KnownRun& one, const KnownRun& other) {
  const double near = kNear * belief.width * belief.scale;
  double sum = near * near * alike(one.like, other.like);
  for (std::size_t at = 0; at < asked_moves(belief); ++at) sum += belief.prior[at] * belief.prior[at] * one.slope[at] * other.slope[at];
  return sum;
}

std::vector<double> covariance_of(const Belief& belief) {
  const std::size_t size = belief.runs.size();
  std::vector<double> matrix(size * size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j)
      matrix[i * size + j] = together(belief, belief.runs[i], belief.runs[j]) + (i == j ? belief.runs[i].own : 0);
  return matrix;
}

struct Fitted {
  Belief belief;
  double likelihood = -1e300;  // logarithm, up to a constant
};

class Turn {
 public:
  Turn(std::span<const MeasuredView> evidence, Belief& belief) : evidence_(evidence), belief_(belief), odd_(evidence.size(), 1.0) {
    belief_.runs.resize(evidence.size());
  }

  // Slopes where the moves are; the runs' weights; moves; how odd each run is. How far the moves went.
  double take(double step) {
    std::vector<double> missed = look_around();
    belief_.covariance = covariance_of(belief_);
    const DenseCholesky factor(belief_.covariance, belief_.runs.size());
    const std::vector<double> weights = factor.solve(missed);
    double square = 0;
    for (std::size_t at = 0; at < missed.size(); ++at) square += missed[at] * weights[at];
    likelihood_ = -0.5 * square - 0.5 * factor.log_determinant();
    take_weights(weights);
    const double change = take_moves(step);
    for (std::size_t at = 0; at < missed.size(); ++at) weigh(at, belief_.runs[at].own * weights[at]);
    return change;
  }
  double likelihood() const {
    double sum = likelihood_;
    for (const double weight : odd_) sum += 0.5 * kFreedom * (std::log(weight) - weight + 1);
    return sum;
  }

 private:
  std::vector<double> look_around() {
    std::vector<double> missed(evidence_.size());
    for (std::size_t at = 0; at < evidence_.size(); ++at) {
      const MeasuredView& one = evidence_[at];
      const Here here = look(*one.step, belief_.moves);
      KnownRun& run = belief_.runs[at];
      const double own = std::hypot(kOwn * one.step->width * belief_.scale, one.spread);
      run = {.like = one.step->like, .slope = here.slope, .weight = run.weight, .own = own * own / odd_[at]};
      missed[at] = std::log(one.seconds) - here.log_time;
      for (std::size_t move = 1; move < asked_moves(belief_); ++move) missed[at] += here.slope[move] * belief_.moves[move];
    }
    return missed;
  }
  void take_weights(const std::vector<double>& weights) {
    for (std::size_t at = 0; at < weights.size(); ++at) belief_.runs[at].weight = weights[at];
  }
  double take_moves(double step) {
    double change = 0;
    for (std::size_t move = 0; move < asked_moves(belief_); ++move) {
      double sum = 0;
      for (const KnownRun& run : belief_.runs) sum += run.slope[move] * run.weight;
      const double before = belief_.moves[move], prior = belief_.prior[move];
      belief_.moves[move] += step * (prior * prior * sum - before);
      change = std::max(change, std::abs(belief_.moves[move] - before) / prior);
    }
    return change;
  }
  // What it misses by itself, in its own standard deviations beforehand.
  void weigh(std::size_t at, double missed) {
    const double usual = belief_.runs[at].own * odd_[at];
    odd_[at] = (kFreedom + 1) / (kFreedom + missed * missed / usual);
  }

  std::span<const MeasuredView> evidence_;
  Belief& belief_;
  std::vector<double> odd_;  // 1 and less: its variance is divided by it
  double likelihood_ = 0;
};

void take_left_open(Belief& belief) {
  const std::size_t size = belief.runs.size();
  const DenseCholesky factor(belief.covariance, size);
  for (std::size_t move = 0; move < kMoves; ++move) {
    const double prior = belief.prior[move];
    std::vector<double> along(size);
    for (std::size_t at = 0; at < size; ++at) along[at] = prior * prior * belief.runs[at].slope[move];
    const std::vector<double> solved = factor.solve(along);
    double settled = 0;
    for (std::size_t at = 0; at < size; ++at) settled += along[at] * solved[at];
    belief.left[move] = move < asked_moves(belief) ? std::sqrt(std::max(0.0, prior * prior - settled)) : prior;
  }
}

Fitted fitted(std::span<const MeasuredView> evidence, std::size_t scale, Belief belief) {
  belief.scale = kScales[scale];
  for (std::size_t at = 0; at < kMoves; ++at) belief.prior[at] = belief.scale * (at == 0 ? kShared * belief.width : kKinds[at].prior);
  Turn turn(evidence, belief);
  for (int at = 0; at < kTurns; ++at)
    if (turn.take(at < kWholeTurns ? 1 : 0.5) < kStill) break;
  take_left_open(belief);
  return {belief, turn.likelihood() - kPrices[scale]};
}

// Where nothing of the host shows in a step, its slope says nothing of a host that is slower by far: that is tried, too.
std::vector<Moves> starts(std::size_t totals) {
  return totals > 1 ? std::vector<Moves>{Moves{}, Moves{0, 0, 0, 0, 12e-6}} : std::vector<Moves>{Moves{}};
}

KnownRun as_run(const Belief& belief, const StepView& step) {
  const double own = kOwn * step.width * belief.scale;
  return {.like = step.like, .slope = look(step, belief.moves).slope, .weight = 0, .own = own * own};
}

}  // namespace

std::span<const MoveKind> move_kinds() { return kKinds; }

Belief believe(std::span<const MeasuredView> evidence) {
  Belief home;
  for (const MeasuredView& one : evidence) home.width += one.step->width / static_cast<double>(evidence.size());
  home.totals = evidence.size();
  Fitted best;
  for (std::size_t scale = 0; scale < (evidence.size() > 1 ? std::size(kScales) : 1); ++scale)
    for (const Moves& start : starts(evidence.size())) {
      Belief begin = home;
      begin.moves = start;
      const Fitted one = fitted(evidence, scale, begin);
      if (one.likelihood > best.likelihood + 1e-9) best = one;
    }
  return best.belief;
}

double believed_seconds(const Belief& belief, const StepView& step) {
  return std::exp(look(step, belief.moves).log_time + belief.moves[0]) * learned_factor(learned_runs(belief), step.like);
}

// What the evidence left open, along this step; what it misses by itself; and what its form is less known than the evidence's.
double believed_width(const Belief& belief, const StepView& step) {
  const KnownRun run = as_run(belief, step);
  const std::size_t size = belief.runs.size();
  std::vector<double> along(size);
  for (std::size_t at = 0; at < size; ++at) along[at] = together(belief, belief.runs[at], run);
  const std::vector<double> solved = DenseCholesky(belief.covariance, size).solve(along);
  double square = together(belief, run, run);
  for (std::size_t at = 0; at < size; ++at) square -= along[at] * solved[at];
  const double newer = (1 - kOwn * kOwn) * (step.width * step.width - belief.width * belief.width);
  return std::sqrt(std::max(square, 0.0) + run.own + std::max(newer, 0.0));
}

std::vector<LearnedRun> learned_runs(const Belief& belief) {
  const double near = kNear * belief.width * belief.scale;
  std::vector<LearnedRun> runs;
  for (const KnownRun& run : belief.runs) runs.push_back({run.like, near * near * run.weight});
  return runs;
}

}  // namespace sim
