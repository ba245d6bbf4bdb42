// Which moments a picture shows on how many pixels: the one place where time becomes x. Pure values, used by every view with a time axis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/units/sim_time.h"

namespace gui {

struct TimeRange {
  sim::SimTime begin{}, end{};
  sim::SimTime length() const { return end - begin; }
  bool operator==(const TimeRange&) const = default;
};

struct Pixels {
  std::int32_t value = 0;
};

// A moment with as many digits as a length near it needs: "1.91214 s" beside 5.5 ms.
struct NearbyTime {
  sim::SimTime time{}, length{};
};
std::string momentText(const NearbyTime& moment);

struct Tick {
  sim::SimTime time{};
  std::string label;  // "12.5 ms": as many decimals as the distance between ticks needs
};

class TimeAxis {
 public:
  TimeAxis(TimeRange shown, Pixels width);  // an empty range is shown as one picosecond
  double toX(sim::SimTime time) const { return static_cast<double>((time - shown_.begin).count()) * pixels_per_picosecond_; }
  sim::SimTime toTime(double x) const { return shown_.begin + sim::SimTime(static_cast<std::int64_t>(x / pixels_per_picosecond_)); }
  Pixels width() const { return width_; }
  TimeRange shown() const { return shown_; }
  std::vector<Tick> ticks(Pixels distance) const;  // at round times, at least `distance` apart

 private:
  TimeRange shown_;
  Pixels width_;
  double pixels_per_picosecond_;
};

struct Zoom {
  sim::SimTime about{};  // stays where it is
  double factor = 1;     // below 1: closer
};
inline constexpr sim::SimTime kShortestRange{1000};  // a nanosecond
TimeRange zoomed(TimeRange shown, Zoom zoom, TimeRange all);
TimeRange panned(TimeRange shown, sim::SimTime by, TimeRange all);  // stops at the ends
TimeRange around(TimeRange what, TimeRange all);                    // with some room at both sides

}  // namespace gui
