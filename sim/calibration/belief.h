// What a few measured steps say about the constants of a software profile: the most likely moves, how sure they are, and how sure a step that they price is.
//
// A measured step is  log measured = log pace + log step(constants) + noise,  where the step is known from below by the planes along critical paths
// (sim/validation/step_plane.h). Each move has a prior: normal, as wide as stacks differ in the published record. One total moves one factor,
// the pace of everything; totals of different layouts tell kernels, collectives, host and step apart, as far as their steps depend on them differently.
// Regularised least squares: Gauss and Newton, until nothing moves. How wide prior and noise are is chosen among a few widths by what the evidence itself
// makes likeliest (Laplace), so that a program far from the record is followed and one near it is not.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "sim/validation/step_plane.h"

namespace sim {

inline constexpr std::size_t kMoves = 1 + kStackConstants;  // pace; then the stack's constants, in their order and in their coordinates
using Moves = std::array<double, kMoves>;
using MoveMatrix = std::array<Moves, kMoves>;

struct MoveKind {
  std::string_view name;    // as in the software profile
  std::string_view family;  // what it stands for, for people: everything, kernels, collectives, host, step
  double prior;             // standard deviation of its coordinate; of pace: a share of the interval, see kShared
};
std::span<const MoveKind> move_kinds();

// One plan's step near the constants of its profile.
struct StepView {
  std::vector<StepPlane> planes;  // one at least
  ConstantPoint home{};           // coordinates of the profile's constants
  double width = 0;               // standard deviation of log(measured / predicted) before anything is given: from the prediction interval
};
struct MeasuredView {
  const StepView* step = nullptr;
  double seconds = 0;
  double spread = 0;  // standard deviation of log of the measurement itself, as far as it is known
};

struct Belief {
  Moves moves{};
  MoveMatrix covariance{};
  Moves prior{};           // standard deviations that were taken
  std::size_t totals = 0;  // measured; one moves the pace alone
  double noise_scale = 1;  // of what a step misses by itself
  double width = 0;        // mean of the evidence's
};

Belief believe(std::span<const MeasuredView> evidence);
double believed_seconds(const Belief& belief, const StepView& step);
double believed_width(const Belief& belief, const StepView& step);  // standard deviation of log(measured / believed)

}  // namespace sim
