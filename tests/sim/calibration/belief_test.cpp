#include "sim/calibration/belief.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sim {
namespace {

constexpr std::size_t kMatrix = 1, kNetwork = 2, kHost = 4;  // among the moves

// A step of kernels, collectives and so many launches, as one plane: 1 second together.
StepView made(double kernels, double collectives, double launches = 0) {
  StepPlane plane{.time = kernels + collectives + launches * 6e-6, .at = {}, .slope = {}};
  plane.at[kHost - 1] = 6e-6;
  plane.slope[kMatrix - 1] = kernels;
  plane.slope[kNetwork - 1] = collectives;
  plane.slope[kHost - 1] = launches;
  StepView view{.planes = {plane}, .home = {}, .width = 0.08};
  view.home[kHost - 1] = 6e-6;
  return view;
}

double left_open(const Belief& belief, std::size_t move) { return belief.left[move] / belief.prior[move]; }

TEST(Belief, OneTotalMovesThePaceMost) {
  const StepView step = made(0.9, 0.1);
  const MeasuredView measured{.step = &step, .seconds = 1.1};
  const Belief belief = believe(std::span(&measured, 1));
  for (std::size_t at = 1; at < kMoves; ++at) EXPECT_LT(std::abs(belief.moves[at]), std::max(belief.moves[0], 1e-3)) << at;
  EXPECT_GT(believed_seconds(belief, step), 1.03);
  EXPECT_LT(believed_seconds(belief, step), 1.1);  // a prior holds it back
}

TEST(Belief, ANetworkThatIsSlowIsFoundByTwoLayouts) {
  const StepView computing = made(1, 0), talking = made(0.3, 0.7);
  const std::vector<MeasuredView> measured{{&computing, 1.0}, {&talking, 0.3 + 0.7 * 1.4}};
  const Belief belief = believe(measured);
  EXPECT_GT(belief.moves[kNetwork], 0.15);
  EXPECT_LT(std::abs(belief.moves[0]), 0.06);
  EXPECT_LT(left_open(belief, kNetwork), 0.7);
  EXPECT_NEAR(left_open(belief, kHost), 1, 1e-6) << "nothing of the host was seen";
}

TEST(Belief, TheIntervalIsNarrowerWhereTheEvidenceIs) {
  const StepView computing = made(1, 0), talking = made(0.3, 0.7);
  const std::vector<MeasuredView> measured(3, {&computing, 1.05});
  const Belief belief = believe(measured);
  EXPECT_LT(believed_width(belief, computing), 0.08);
  EXPECT_GT(believed_width(belief, talking), 1.5 * believed_width(belief, computing));
}

TEST(Belief, AProgramFarFromTheRecordIsFollowed) {
  const StepView step = made(0.8, 0.2);
  const std::vector<MeasuredView> measured(2, {&step, 2.5});
  EXPECT_NEAR(believed_seconds(believe(measured), step), 2.5, 0.35);
}

TEST(Belief, AnOddRunIsNoPace) {
  const StepView step = made(0.9, 0.1);
  const auto believed = [&](double seconds) {
    const MeasuredView measured{&step, seconds};
    return believed_seconds(believe(std::span(&measured, 1)), step);
  };
  EXPECT_GT(believed(1.15), 1.08);
  EXPECT_LT(believed(8.0), 1.15) << "eight times as long is a run's own misfortune, until another one says so";
}

TEST(Belief, WhatARunMissedHoldsForItsLikesMost) {
  StepView run = made(0.9, 0.1), like = run, other = run;
  run.like = like.like = {.kind = "", .numbers = "bf16", .at = {0}};
  other.like = {.kind = "", .numbers = "bf16", .at = {5}};
  const MeasuredView measured{&run, 1.15};
  const Belief belief = believe(std::span(&measured, 1));
  EXPECT_GT(believed_seconds(belief, like), 1.08);
  EXPECT_LT(believed_seconds(belief, other), 1.05);
  EXPECT_LT(believed_width(belief, like), 0.6 * believed_width(belief, other));
}

TEST(Belief, ASpreadMeasurementWeighsLess) {
  const StepView step = made(0.9, 0.1);
  const auto believed = [&](double spread) {
    const MeasuredView measured{&step, 1.1, spread};
    return believed_seconds(believe(std::span(&measured, 1)), step);
  };
  EXPECT_LT(believed(0.3), believed(0));
}

}  // namespace
}  // namespace sim
