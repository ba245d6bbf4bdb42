#include "sim/cost/kernel_prices.h"

#include <algorithm>
#include <cmath>

#include "sim/units/at.h"

namespace sim {
namespace {

double log_size(std::int64_t size) { return std::log(static_cast<double>(std::max<std::int64_t>(size, 1))); }

Seconds or_zero(bool exists, Seconds time) { return exists ? time : Seconds{}; }

}  // namespace

KernelPrices::KernelPrices(const HardwareProfile& profile, Precision precision, BusyRanks busy)
    : profile_(profile), precision_(precision), busy_(busy) {
  if (profile.measured.empty()) return;
  for (std::size_t at = 0; at < static_cast<std::size_t>(Kernel::OperatorCall); ++at) {
    const auto kernel = static_cast<Kernel>(at);
    for (const MeasuredKernel* point : points(kernel)) {
      curves_[at].add(coordinates(kernel, point->shape), point->time, roofline(kernel, point->shape, point->precision));
      if (kernel == Kernel::LinearForward) measured_concurrency_ = point->concurrent_ranks;
    }
  }
  const Seconds forward = call_time(Kernel::OperatorCall), backward = call_time(Kernel::AutogradCall);
  const auto beyond = [&](Seconds call) { return std::max(Seconds{}, call - profile.kernel_overhead); };
  if (profile.kind == DeviceKind::Gpu)
    issued_ = {forward, backward};
  else
    around_ = {beyond(forward), beyond(backward)};
}

// What memory bounds bends the roofline alike in every precision; a matrix unit does not.
std::vector<const MeasuredKernel*> KernelPrices::points(Kernel kernel) const {
  const auto own = select_points(profile_, kernel, precision_, busy_);
  return own.empty() && family_of(kernel) == KernelFamily::MemoryBound ? select_points(profile_, kernel, Precision::Fp32, busy_) : own;
}

Seconds KernelPrices::call_time(Kernel call) const {
  Seconds longest{};
  for (const MeasuredKernel* point : points(call)) longest = std::max(longest, point->time);
  return longest;
}

// What decides how efficient a kernel is: the sides of a matrix product; heads, length and width of attention; else just the bytes.
RatioCurve::Coordinates KernelPrices::coordinates(Kernel kernel, std::span<const std::int64_t> shape) {
  switch (family_of(kernel)) {
    case KernelFamily::MatrixProduct: return {log_size(shape[0]), log_size(shape[1]), log_size(shape[2])};
    case KernelFamily::FusedAttention: return {log_size(shape[0] * shape[1]), log_size(shape[2]), log_size(shape[3])};
    case KernelFamily::Scan: return {log_size(shape[0] * shape[1]), log_size(shape[3]), log_size(shape[4])};
    case KernelFamily::Sparse: return {log_size(shape[0] * shape[1]), log_size(shape[2]), log_size(shape[5])};
    case KernelFamily::Index: return {log_size(shape[0] * shape[1]), log_size(shape[2]), log_size(shape[4])};
    case KernelFamily::MemoryBound: break;
  }
  return {log_size(shape[0]) + (shape.size() > 1 ? log_size(shape[1]) : 0.0), 0.0, 0.0};
}

Seconds KernelPrices::streaming(Bytes bytes) const {
  const double rate = profile_.memory_bandwidth.value() * profile_.memory_efficiency;
  return or_zero(rate > 0, bytes / BytesPerSecond(rate));
}

Seconds KernelPrices::roofline(Kernel kernel, std::span<const std::int64_t> shape) const { return roofline(kernel, shape, precision_); }

Seconds KernelPrices::roofline(Kernel kernel, std::span<const std::int64_t> shape, Precision precision) const {
  const KernelWork work = kernel_work(kernel, shape, precision);
  const KernelFamily family = family_of(kernel);
  const bool attends = family == KernelFamily::FusedAttention || family == KernelFamily::Sparse || family == KernelFamily::Index;
  const double efficiency = attends ? profile_.attention_efficiency : profile_.matrix_efficiency;
  const double rate = sim::at(profile_.peak, precision).value() * efficiency;
  const Seconds computing = or_zero(family != KernelFamily::MemoryBound && rate > 0, work.flops / FlopsPerSecond(rate));
  return std::max(computing, streaming(work.bytes)) + profile_.kernel_overhead;
}

Seconds KernelPrices::roofline(const KernelCall& call) const {
  if (call.moved.value() == 0) return roofline(call.kernel, call.shape);
  const double rate = sim::at(profile_.peak, precision_).value() * profile_.matrix_efficiency;
  const Seconds computing = or_zero(rate > 0, kernel_work(call.kernel, call.shape, precision_).flops / FlopsPerSecond(rate));
  return std::max(computing, streaming(call.moved)) + profile_.kernel_overhead;
}

Seconds KernelPrices::time(const KernelCall& call, CallKind kind) const {
  const RatioCurve& curve = sim::at(curves_, call.kernel);
  const Seconds baseline = roofline(call);
  const Seconds kernel = curve.empty() ? baseline : baseline * curve.ratio(coordinates(call.kernel, call.shape));
  return kernel * call.share + around_.of(kind);
}

Seconds KernelPrices::issue(CallKind kind) const { return issued_.of(kind); }

}  // namespace sim
