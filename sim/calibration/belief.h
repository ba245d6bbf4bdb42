// What a few measured steps say about the constants of a software profile: the most likely moves, how sure they are, and how sure a step that they price is.
//
//   log measured = log step(constants) + pace + what plans like it miss + what it misses by itself
//
// The step is known from below by the planes along critical paths (sim/calibration/step_plane.h). Pace, moves of constants and what alike plans miss
// together (sim/cluster/likeness.h) are normal beforehand, as wide as stacks differ in the published record: a Gaussian process in the runs that were
// measured (Rasmussen and Williams 2006, chapter 2). What a run misses by itself has Student's heavy tails: a run that is odd, as one near the limit of
// memory is, is left alone instead of being taken for a pace (scale mixture; weights by turns, Lange, Little and Taylor 1989).
// One total moves no constant; totals of different layouts tell kernels, collectives, host and step apart, as far as their steps depend on them
// differently. How wide all of it is, is chosen among a few widths by what several totals themselves make likeliest.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "sim/calibration/step_plane.h"
#include "sim/cluster/likeness.h"

namespace sim {

inline constexpr std::size_t kMoves = 1 + kStackConstants;  // pace; then the stack's constants, in their order and in their coordinates
using Moves = std::array<double, kMoves>;

struct MoveKind {
  std::string_view name;    // as in the software profile
  std::string_view family;  // what it stands for, for people: everything, kernels, collectives, host, step
  double prior;             // standard deviation of its coordinate; of pace: a share of the interval
};
std::span<const MoveKind> move_kinds();

// One plan's step near the constants of its profile.
struct StepView {
  std::vector<StepPlane> planes;  // one at least
  ConstantPoint home{};           // coordinates of the profile's constants
  double width = 0;               // standard deviation of log(measured / predicted) before anything is given: from the prediction interval
  Likeness like{};
};
struct MeasuredView {
  const StepView* step = nullptr;
  double seconds = 0;
  double spread = 0;  // standard deviation of log of the measurement itself, as far as it is known
};

struct KnownRun {
  Likeness like;
  Moves slope{};      // of the logarithm of its step
  double weight = 0;  // what it adds to the logarithm of steps that depend on the same
  double own = 0;     // variance of what it misses by itself
};
struct Belief {
  Moves moves{};
  Moves prior{}, left{};   // standard deviations beforehand, and now
  std::size_t totals = 0;  // measured; one moves no constant
  double scale = 1;        // of all widths
  double width = 0;        // mean of the evidence's
  std::vector<KnownRun> runs;
  std::vector<double> covariance;  // of the runs' logarithms, row by row
};

Belief believe(std::span<const MeasuredView> evidence);
double believed_seconds(const Belief& belief, const StepView& step);
double believed_width(const Belief& belief, const StepView& step);  // standard deviation of log(measured / believed)
std::vector<LearnedRun> learned_runs(const Belief& belief);         // what alike plans miss together, as a software profile keeps it

}  // namespace sim
