// Two kinds of time. Seconds are costs (real numbers); SimTime is the clock (integer picoseconds, exact, 106 days).
// A cost becomes clock time in one place, to_sim_time, by one rule: to nearest.
#pragma once

#include <chrono>
#include <cstdint>

#include "sim/units/quantity.h"

namespace sim {

using Seconds = std::chrono::duration<double>;
using SimTime = std::chrono::duration<std::int64_t, std::pico>;

constexpr SimTime to_sim_time(Seconds cost) {
  const double picoseconds = cost.count() * 1e12;
  return SimTime(static_cast<std::int64_t>(picoseconds < 0 ? picoseconds - 0.5 : picoseconds + 0.5));
}
constexpr Seconds to_seconds(SimTime time) { return Seconds(static_cast<double>(time.count()) * 1e-12); }

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) { return Seconds(static_cast<double>(amount.value()) / rate.value()); }
constexpr Seconds operator/(Flops amount, FlopsPerSecond rate) { return Seconds(amount.value() / rate.value()); }
constexpr BytesPerSecond operator/(Bytes amount, Seconds time) {
  return BytesPerSecond(static_cast<double>(amount.value()) / time.count());
}
constexpr FlopsPerSecond operator/(Flops amount, Seconds time) { return FlopsPerSecond(amount.value() / time.count()); }

}  // namespace sim
