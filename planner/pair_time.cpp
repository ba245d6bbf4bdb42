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
  SimTime met{};  // not before it have all kernels so far ended, and the exchanges in front of the last one
  const Lane* last = nullptr;
  Stretch under_way{};  // whose exchange runs beside the other lane

  void run(Lane& lane) {
    const Stretch& now = lane.stretches[lane.next++];
    const SimTime both = met + (last != nullptr && last != &lane ? beside(now, under_way) : SimTime{});
    lane.ready += now.lead;
    if (now.work.count() > 0) lane.ready = compute = std::max({compute, lane.ready, met}) + now.work;
    met = std::max({both, compute, exchange});
    lane.ready += now.rest - now.exchange;
    if (now.exchange.count() > 0)
      lane.ready = exchange = std::max({exchange, lane.ready, now.work.count() > 0 ? met : SimTime{}}) + now.exchange;
    last = &lane;
    under_way = now.work.count() > 0 ? now : Stretch{};  // without kernels it may have begun before
  }
};

// What is computed again in front of the first kernel of all is left out: a bound.
Stretch joined(const Stretch& open, Again again, const Stretch& next) {
  const SimTime between = open.rest + next.lead;
  Stretch all = next;
  all.lead = open.lead;
  if (open.work.count() == 0) {
    all.lead += between;
    return all;
  }
  all.kernels += open.kernels + again.kernels;
  if (next.work.count() > 0) {
    all.work += open.work + std::max(again.work, between);
    return all;
  }
  all.work = open.work + again.work;
  all.rest += again.work.count() > 0 ? SimTime{} : between;
  return all;
}

SimTime share_of(SimTime all, double share) { return SimTime(static_cast<std::int64_t>(static_cast<double>(all.count()) * share)); }

}  // namespace

SimTime beside(const Stretch& work, const Stretch& exchange) {
  if (exchange.exchange.count() == 0) return work.work;
  const double held = static_cast<double>(exchange.held.count()) / static_cast<double>(exchange.exchange.count());
  const SimTime open = std::max(SimTime{}, exchange.exchange - (work.work - work.kernels));
  return std::max(work.work + share_of(open, held), exchange.exchange + share_of(work.kernels, held));
}

void append(std::vector<Stretch>& action, const std::vector<Stretch>& layer, Again again) {
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
  InTurn waiting;
  for (const Stretch& one : layer) {
    all += {.work = one.work, .kernels = one.kernels};
    if (one.work.count() > 0) all += std::exchange(waiting, {});
    const double share = one.held.count() > 0 ? static_cast<double>(one.held.count()) / static_cast<double>(one.exchange.count()) : 0;
    waiting += {.exchange = one.exchange, .held = one.held, .share = share};
  }
  return all;
}

SimTime beside(SimTime work, const InTurn& exchanges) {
  const SimTime free = share_of(work - exchanges.kernels, exchanges.share);
  return std::max(work + std::max(SimTime{}, exchanges.held - free), exchanges.exchange);
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
