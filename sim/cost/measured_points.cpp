#include "sim/cost/measured_points.h"

#include <algorithm>
#include <cmath>

namespace sim {

std::vector<const MeasuredKernel*> select_points(const HardwareProfile& profile, Kernel kernel, Precision precision, BusyRanks busy) {
  const auto matches = [&](const MeasuredKernel& point) { return point.kernel == kernel && point.precision == precision; };
  std::int32_t above = 0, below = 0;  // 0: none
  for (const MeasuredKernel& point : profile.measured) {
    if (!matches(point)) continue;
    if (point.concurrent_ranks >= busy.value && (above == 0 || point.concurrent_ranks < above)) above = point.concurrent_ranks;
    if (point.concurrent_ranks < busy.value) below = std::max(below, point.concurrent_ranks);
  }
  const std::int32_t chosen = above > 0 ? above : below;
  std::vector<const MeasuredKernel*> points;
  for (const MeasuredKernel& point : profile.measured)
    if (matches(point) && point.concurrent_ranks == chosen && point.time.count() > 0) points.push_back(&point);
  return points;
}

void RatioCurve::add(const Coordinates& at, Seconds measured, Seconds baseline) {
  if (measured.count() <= 0 || baseline.count() <= 0) return;
  const Point point{at, std::log(measured / baseline)};
  points_.insert(std::upper_bound(points_.begin(), points_.end(), point, [](const Point& a, const Point& b) { return a.at < b.at; }),
                 point);
}

bool RatioCurve::is_line() const {
  return std::all_of(points_.begin(), points_.end(), [](const Point& point) { return point.at[1] == 0 && point.at[2] == 0; });
}

double RatioCurve::ratio(const Coordinates& at) const {
  if (points_.empty()) return 1.0;
  return std::exp(is_line() ? along_line(at[0]) : by_distance(at));
}

double RatioCurve::along_line(double at) const {
  const auto above = std::lower_bound(points_.begin(), points_.end(), at, [](const Point& point, double x) { return point.at[0] < x; });
  if (above == points_.begin()) return points_.front().log_ratio;
  if (above == points_.end()) return points_.back().log_ratio;
  const Point& right = *above;
  const Point& left = *std::prev(above);
  const double width = right.at[0] - left.at[0];
  const double part = width > 0 ? (at - left.at[0]) / width : 1.0;
  return left.log_ratio + part * (right.log_ratio - left.log_ratio);
}

double RatioCurve::by_distance(const Coordinates& at) const {
  double weights = 0, sum = 0;
  for (const Point& point : points_) {
    double square = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) square += (at[axis] - point.at[axis]) * (at[axis] - point.at[axis]);
    if (square < 1e-18) return point.log_ratio;
    const double weight = 1.0 / (square * square);
    weights += weight;
    sum += weight * point.log_ratio;
  }
  return sum / weights;
}

}  // namespace sim
