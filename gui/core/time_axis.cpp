#include "gui/core/time_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gui {
namespace {

struct TimeUnit {
  double picoseconds;
  const char* name;
};
constexpr TimeUnit kTimeUnits[] = {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}};

TimeUnit unitFor(double largest) {
  for (const TimeUnit& unit : kTimeUnits)
    if (largest >= unit.picoseconds) return unit;
  return {1, "ps"};
}

// The smallest of 1, 2, 5, 10, 20, ... that is not below.
double roundUp(double least) {
  const double power = std::pow(10, std::floor(std::log10(std::max(least, 1.0))));
  for (const double factor : {1.0, 2.0, 5.0})
    if (power * factor >= least) return power * factor;
  return power * 10;
}

}  // namespace

std::string momentText(const NearbyTime& moment) {
  const auto time = static_cast<double>(moment.time.count());
  const TimeUnit unit = unitFor(std::abs(time));
  const double digit = std::max(1.0, static_cast<double>(moment.length.count()) / 100);
  const int decimals = std::max(0, static_cast<int>(std::ceil(std::log10(unit.picoseconds / digit) - 1e-9)));
  return fmt::format("{:.{}f} {}", time / unit.picoseconds, decimals, unit.name);
}

TimeAxis::TimeAxis(TimeRange shown, Pixels width) : shown_(shown), width_{std::max(width.value, 1)} {
  if (shown_.length() < sim::SimTime(1)) shown_.end = shown_.begin + sim::SimTime(1);
  pixels_per_picosecond_ = width_.value / static_cast<double>(shown_.length().count());
}

std::vector<Tick> TimeAxis::ticks(Pixels distance) const {
  const double step = roundUp(distance.value / pixels_per_picosecond_);
  const TimeUnit unit = unitFor(std::max(std::abs(static_cast<double>(shown_.end.count())), step));
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step / unit.picoseconds) - 1e-9)));
  std::vector<Tick> found;
  for (double at = std::ceil(static_cast<double>(shown_.begin.count()) / step) * step; at <= static_cast<double>(shown_.end.count());
       at += step)
    found.push_back({sim::SimTime(static_cast<std::int64_t>(at)), fmt::format("{:.{}f} {}", at / unit.picoseconds, decimals, unit.name)});
  return found;
}

TimeRange panned(TimeRange shown, sim::SimTime by, TimeRange all) {
  const sim::SimTime length = std::min(shown.length(), all.length());
  const sim::SimTime begin = std::clamp(shown.begin + by, all.begin, all.end - length);
  return {begin, begin + length};
}

TimeRange zoomed(TimeRange shown, Zoom zoom, TimeRange all) {
  const sim::SimTime shortest = std::min(kShortestRange, all.length());
  const auto wanted = static_cast<double>(shown.length().count()) * zoom.factor;
  const auto most = static_cast<double>(all.length().count());
  const sim::SimTime length =
      std::clamp(sim::SimTime(static_cast<std::int64_t>(std::min(wanted, most))), shortest, std::max(shortest, all.length()));
  const double share = static_cast<double>((zoom.about - shown.begin).count()) / std::max(1.0, static_cast<double>(shown.length().count()));
  const sim::SimTime begin = zoom.about - sim::SimTime(static_cast<std::int64_t>(share * static_cast<double>(length.count())));
  return panned({begin, begin + length}, sim::SimTime(0), all);
}

TimeRange around(TimeRange what, TimeRange all) {
  const sim::SimTime room = std::max(what.length(), kShortestRange) / 2;
  return {std::max(what.begin - room, all.begin), std::min(what.end + room, all.end)};
}

}  // namespace gui
