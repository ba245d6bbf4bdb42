// A backward and the forward right behind it, which a stage performs in turn (expert_overlap): what both take at least, each stretch by itself on its links.
//
//   compute    B head | F attention |  B experts  | F experts | B attention | ...
//   exchange          | B combine   |  F dispatch | B dispatch| F combine   |
#pragma once

#include <vector>

#include "sim/units/sim_time.h"

namespace planner {

// What a lane performs until its tokens have been exchanged, or its action ends (StageWriter::run_stretch). The last one of an action exchanges nothing.
struct Stretch {
  sim::SimTime lead{};      // in front of its first kernel; all of it where it has none
  sim::SimTime work{};      // from its first kernel to its last, which keeps the stage's kernels in their order
  sim::SimTime rest{};      // behind it, the exchange included
  sim::SimTime exchange{};  // on the links that exchanges of both lanes share
};

// What a layer adds to its action: it goes on in the stretch that is open. again: of kernels in front of it that wait for the stage's kernels alone.
void append(std::vector<Stretch>& action, const std::vector<Stretch>& layer, sim::SimTime again);

// Of one layer: its kernels, and the exchanges that some kernel of it waits for. Whatever stands in front of the layer and behind it, both are in its action.
struct InTurn {
  sim::SimTime work{}, exchange{};
  InTurn& operator+=(const InTurn& more) {
    work += more.work;
    exchange += more.exchange;
    return *this;
  }
};
InTurn in_turn(const std::vector<Stretch>& layer);

// Of an action by itself, until its last kernel has ended.
sim::SimTime alone(const std::vector<Stretch>& action);

struct PairTime {
  sim::SimTime backward{}, all{};  // from when it begins, until the last kernel of the backward has ended, and of both
};
PairTime pair_time(const std::vector<Stretch>& backward, const std::vector<Stretch>& forward);

}  // namespace planner
