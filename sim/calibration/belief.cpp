#include "sim/calibration/belief.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/calibration/small_matrix.h"

namespace sim {
namespace {

// Of stacks and parts that were fitted the shares differ by 0.04 to 0.05 in their logarithm; slowdowns by 0.15; overheads of a step by 5 ms. What no row
// moved may move by a half of what it is, and a network is a user's own: 0.15.
constexpr MoveKind kKinds[kMoves] = {{"pace", "everything", 0},
                                     {"matrix_share", "kernels", 0.05},
                                     {"network_share", "collectives", 0.15},
                                     {"overlap_slowdown", "collectives beside kernels", 0.15},
                                     {"host_per_kernel", "host", 3e-6},
                                     {"pipeline_sync", "host", 0.5e-3},
                                     {"step_overhead", "step", 5e-3}};
constexpr double kShared = 0.65,
                 kOwn = 0.75;  // of the width: what a stack's steps miss together, and each by itself; their squares add up to one
constexpr double kScales[] = {1, 2, 4, 8}, kPrices[] = {0, 1.5, 3, 4.5};  // minus the logarithm of how often they are so wide
constexpr double kPinned = 1e-3;                                          // of its prior: one total moves one factor, the pace
constexpr int kTurns = 12;
constexpr double kStill = 1e-6;

struct Scales {
  double prior = 1, noise = 1, price = 0;
};

struct Here {
  double log_time = 0;
  Moves slope{};  // of log_time
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
  Here here{.log_time = std::log(seconds) + moves[0], .slope = {1}};
  for (std::size_t at = 0; at < kStackConstants; ++at) here.slope[at + 1] = highest->slope[at] / seconds;
  return here;
}

bool is_pinned(std::size_t move, std::size_t totals) { return totals == 1 && move > 0; }

double noise_of(const MeasuredView& one, double scale) { return std::hypot(kOwn * one.step->width * scale, one.spread); }

struct Fitted {
  Belief belief;
  double likelihood = 0;  // logarithm, by Laplace, up to a constant
};

// The quadratic around `moves`: its matrix, and its slope there.
struct Normal {
  MoveMatrix matrix{};
  Moves right{};
  double cost = 0;  // at `moves`, halved squares
};

Normal normal_equations(std::span<const MeasuredView> evidence, const Belief& belief) {
  Normal normal;
  for (std::size_t at = 0; at < kMoves; ++at) {
    const double prior = belief.prior[at] * (is_pinned(at, evidence.size()) ? kPinned : 1), weight = 1 / (prior * prior);
    normal.matrix[at][at] = weight;
    normal.right[at] = -weight * belief.moves[at];
    normal.cost += 0.5 * weight * belief.moves[at] * belief.moves[at];
  }
  for (const MeasuredView& one : evidence) {
    const Here here = look(*one.step, belief.moves);
    const double noise = noise_of(one, belief.noise_scale), missed = (std::log(one.seconds) - here.log_time) / noise;
    normal.cost += 0.5 * missed * missed;
    for (std::size_t i = 0; i < kMoves; ++i) {
      normal.right[i] += here.slope[i] / noise * missed;
      for (std::size_t j = 0; j < kMoves; ++j) normal.matrix[i][j] += here.slope[i] * here.slope[j] / (noise * noise);
    }
  }
  return normal;
}

// Half steps where a whole one makes it worse: a step has kinks where its longest path changes.
Moves next_moves(std::span<const MeasuredView> evidence, const Belief& belief, const Normal& normal) {
  const Moves direction = SmallCholesky<kMoves>(normal.matrix).solve(normal.right);
  Belief tried = belief;
  for (double share = 1; share > 0.05; share /= 2) {
    for (std::size_t at = 0; at < kMoves; ++at) tried.moves[at] = belief.moves[at] + share * direction[at];
    if (normal_equations(evidence, tried).cost <= normal.cost) return tried.moves;
  }
  return belief.moves;
}

Fitted fitted(std::span<const MeasuredView> evidence, const Scales& scales, Belief belief) {
  belief.noise_scale = scales.noise;
  for (std::size_t at = 0; at < kMoves; ++at) belief.prior[at] = scales.prior * (at == 0 ? kShared * belief.width : kKinds[at].prior);
  for (int turn = 0; turn < kTurns; ++turn) {
    const Moves before = std::exchange(belief.moves, next_moves(evidence, belief, normal_equations(evidence, belief)));
    double change = 0;
    for (std::size_t at = 0; at < kMoves; ++at) change = std::max(change, std::abs(belief.moves[at] - before[at]) / belief.prior[at]);
    if (change < kStill) break;
  }
  const Normal normal = normal_equations(evidence, belief);
  const SmallCholesky<kMoves> factor(normal.matrix);
  belief.covariance = factor.inverse();
  Fitted result{belief, -normal.cost - scales.price - 0.5 * factor.log_determinant()};
  for (const double prior : belief.prior) result.likelihood -= std::log(prior);
  for (const MeasuredView& one : evidence) result.likelihood -= std::log(noise_of(one, scales.noise));
  return result;
}

// Where nothing of the host shows in a step, its slope says nothing of a host that is slower by far: that is tried, too.
std::vector<Moves> starts() { return {Moves{}, Moves{0, 0, 0, 0, 12e-6, 0, 0}}; }

}  // namespace

std::span<const MoveKind> move_kinds() { return kKinds; }

Belief believe(std::span<const MeasuredView> evidence) {
  Belief home;
  for (const MeasuredView& one : evidence) home.width += one.step->width / static_cast<double>(evidence.size());
  home.totals = evidence.size();
  Fitted best{home, -1e300};
  const auto consider = [&](std::size_t prior, std::size_t noise, double price) {
    for (const Moves& start : starts()) {
      Belief begin = home;
      begin.moves = start;
      const Fitted one = fitted(evidence, {kScales[prior], kScales[noise], price}, begin);
      if (one.likelihood > best.likelihood + 1e-9) best = one;
    }
  };
  for (std::size_t prior = 0; prior < std::size(kScales); ++prior)
    for (std::size_t noise = 0; noise < std::size(kScales); ++noise)
      if (evidence.size() > 1)
        consider(prior, noise, kPrices[prior] + kPrices[noise]);
      else if (prior == noise)  // one total does not tell what it shares with others from what it has by itself
        consider(prior, noise, kPrices[prior]);
  return best.belief;
}

double believed_seconds(const Belief& belief, const StepView& step) { return std::exp(look(step, belief.moves).log_time); }

// What the evidence left open, along this step; what it misses by itself; and what its form is less known than the evidence's.
double believed_width(const Belief& belief, const StepView& step) {
  const Here here = look(step, belief.moves);
  double square = 0;
  const std::size_t asked = belief.totals == 1 ? 1 : kMoves;  // what else is open is part of what a step misses by itself
  for (std::size_t i = 0; i < asked; ++i)
    for (std::size_t j = 0; j < asked; ++j) square += here.slope[i] * belief.covariance[i][j] * here.slope[j];
  const double own = kOwn * step.width * belief.noise_scale;
  const double newer = step.width * step.width - belief.width * belief.width;
  return std::sqrt(square + own * own + (newer > 0 ? kShared * kShared * newer : 0));
}

}  // namespace sim
