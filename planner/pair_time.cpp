#include "planner/pair_time.h"

#include <algorithm>
#include <utility>

namespace planner {
namespace {

using sim::SimTime;

struct Lane {
  const std::vector<Stretch>& stretches;
  std::size_t next = 0;
  SimTime ready{};
  bool is_done() const { return next == stretches.size(); }
  bool is_last() const { return next + 1 >= stretches.size(); }
};

struct Streams {
  SimTime compute{}, exchange{};

  void run(Lane& lane) {
    const Stretch& now = lane.stretches[lane.next++];
    lane.ready += now.lead;
    if (now.work.count() > 0) lane.ready = compute = std::max(compute, lane.ready) + now.work;
    lane.ready += now.rest - now.exchange;
    if (now.exchange.count() > 0) lane.ready = exchange = std::max(exchange, lane.ready) + now.exchange;
  }
};

// What is computed again in front of the first kernel of all is left out: a bound.
Stretch joined(const Stretch& open, SimTime again, const Stretch& next) {
  const SimTime between = open.rest + next.lead;
  if (open.work.count() == 0) return {.lead = open.lead + between, .work = next.work, .rest = next.rest, .exchange = next.exchange};
  if (next.work.count() > 0)
    return {.lead = open.lead, .work = open.work + std::max(again, between) + next.work, .rest = next.rest, .exchange = next.exchange};
  const SimTime rest = (again.count() > 0 ? SimTime{} : between) + next.rest;
  return {.lead = open.lead, .work = open.work + again, .rest = rest, .exchange = next.exchange};
}

}  // namespace

void append(std::vector<Stretch>& action, const std::vector<Stretch>& layer, SimTime again) {
  if (layer.empty()) return;
  if (action.empty()) {
    action = layer;
    return;
  }
  action.back() = joined(action.back(), again, layer.front());
  action.insert(action.end(), layer.begin() + 1, layer.end());
}

InTurn in_turn(const std::vector<Stretch>& layer) {
  InTurn all;
  SimTime waiting{};
  for (const Stretch& one : layer) {
    all.work += one.work;
    if (one.work.count() > 0) all.exchange += std::exchange(waiting, {});
    waiting += one.exchange;
  }
  return all;
}

SimTime alone(const std::vector<Stretch>& action) {
  Streams streams;
  for (Lane lane{action}; !lane.is_done();) streams.run(lane);
  return streams.compute;
}

PairTime pair_time(const std::vector<Stretch>& backward, const std::vector<Stretch>& forward) {
  Streams streams;
  Lane b{backward}, f{forward};
  PairTime time;
  while (!b.is_done() || !f.is_done()) {
    if (!b.is_done()) streams.run(b);
    if (b.is_done() && time.backward.count() == 0) time.backward = streams.compute;
    if (!f.is_done() && (b.is_done() || !f.is_last())) streams.run(f);
  }
  time.all = streams.compute;
  return time;
}

}  // namespace planner
