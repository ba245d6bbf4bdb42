// A backward and the forward right behind it, which a stage performs in turn (expert_overlap): what both take at least, each stretch by itself on its links.
//
//   compute    B head | F attention |  B experts  | F experts | B attention | ...
//   exchange          | B combine   |  F dispatch | B dispatch| F combine   |
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/units/sim_time.h"

namespace planner {

// What a lane performs until its tokens have been exchanged, or its action ends (StageWriter::run_stretch). The last one of an action exchanges nothing.
struct Stretch {
  sim::SimTime lead{};      // in front of its first kernel; all of it where it has none
  sim::SimTime work{};      // from its first kernel to its last, which keeps the stage's kernels in their order
  sim::SimTime kernels{};   // of that
  sim::SimTime rest{};      // behind it, the exchange included
  sim::SimTime exchange{};  // on the links that exchanges of both lanes share
  sim::SimTime held{};      // of the device, by kernels of the exchange; 0: nothing is known of it
  bool operator==(const Stretch&) const = default;
};

struct Again {  // of what is computed again in front of a layer, which waits for the stage's kernels alone
  sim::SimTime work{}, kernels{};
};

// What a layer adds to its action: it goes on in the stretch that is open.
void append(std::vector<Stretch>& action, const std::vector<Stretch>& layer, Again again);

// Kernels beside an exchange, both begun by now: until both have ended. A device's speeds times what each takes of it are never above 1 together, and speeds
// are fair (sim/engine/link_sharing.h): an exchange is no faster than the kernels beside it.
//
//   k kernels, x exchange, h held by it, c = work - kernels, which it may hide behind      work + h (1 - c / x)      x + k h / x
sim::SimTime beside(const Stretch& work, const Stretch& exchange);

// Of one layer: its kernels, and the exchanges that some kernel of it waits for. Whatever stands in front of the layer and behind it, both are in its action.
struct InTurn {
  sim::SimTime work{}, kernels{}, exchange{}, held{};
  double share = 0;  // of the device that an exchange holds, the largest
  InTurn& operator+=(const InTurn& more) {
    work += more.work;
    kernels += more.kernels;
    exchange += more.exchange;
    held += more.held;
    share = std::max(share, more.share);
    return *this;
  }
  bool operator==(const InTurn&) const = default;
  InTurn operator*(std::int64_t times) const { return {work * times, kernels * times, exchange * times, held * times, share}; }
};
InTurn in_turn(const std::vector<Stretch>& layer);

// All of them at once, in whatever order: of `work`, what is no kernel may pass while exchanges hold the device.
sim::SimTime beside(sim::SimTime work, const InTurn& exchanges);

// Of an action by itself, until its last kernel has ended.
sim::SimTime alone(const std::vector<Stretch>& action);

struct PairTime {
  sim::SimTime backward{}, all{};  // from when it begins, until the last kernel of the backward has ended, and of both
};
PairTime pair_time(const std::vector<Stretch>& backward, const std::vector<Stretch>& forward);

}  // namespace planner
