// What happens next: a heap of (time, sequence). The sequence breaks ties in the order of scheduling, so a run is reproducible.
// Knows nothing of tasks: `activity` is the engine's number for what ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/units/sim_time.h"

namespace sim {

struct Event {
  SimTime time{};
  std::uint32_t sequence = 0;
  std::int32_t activity = 0;
};

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const Event& next() const { return heap_.front(); }

  // Returns the event's sequence number, unique in this queue.
  std::uint32_t schedule(SimTime time, std::int32_t activity) {
    heap_.push_back({time, sequence_, activity});
    std::push_heap(heap_.begin(), heap_.end(), later);
    return sequence_++;
  }

  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }

 private:
  static bool later(const Event& a, const Event& b) { return a.time != b.time ? a.time > b.time : a.sequence > b.sequence; }

  std::vector<Event> heap_;
  std::uint32_t sequence_ = 0;
};

}  // namespace sim
