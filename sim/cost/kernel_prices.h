// The time of one kernel on one device: the roofline of the profile, bent so that it goes through the measured points.
// Links, collectives and corrections are not here.
#pragma once

#include <array>

#include "sim/cost/kernel_work.h"
#include "sim/cost/measured_points.h"

namespace sim {

enum class CallKind : std::uint8_t { Forward, Backward, Plain };  // Plain: outside autograd

class KernelPrices {
 public:
  // busy: ranks of the node that work at the same time; the profile must outlive this.
  KernelPrices(const HardwareProfile& profile, Precision precision, BusyRanks busy);

  // Of the device. A CPU makes its calls itself: what one takes beyond kernel_overhead is in it.
  Seconds time(const KernelCall& call, CallKind kind) const;
  // Of the host, to make one call, where it was measured: a GPU computes meanwhile.
  Seconds issue(CallKind kind) const;
  // max(flops / rate, bytes / bandwidth) + overhead, without measured points.
  Seconds roofline(Kernel kernel, std::span<const std::int64_t> shape) const;
  Seconds roofline(const KernelCall& call) const;
  Seconds streaming(Bytes bytes) const;  // that many bytes through memory, no overhead
  // How many ranks worked at once when the points were taken: their contention for cores and memory is in the prices. 1: none is.
  std::int32_t measured_concurrency() const { return measured_concurrency_; }

 private:
  static constexpr std::size_t kNumKernels = std::size(kKernelNames);
  static RatioCurve::Coordinates coordinates(Kernel kernel, std::span<const std::int64_t> shape);
  std::vector<const MeasuredKernel*> points(Kernel kernel) const;
  Seconds roofline(Kernel kernel, std::span<const std::int64_t> shape, Precision precision) const;
  Seconds call_time(Kernel call) const;  // the longest that was measured

  const HardwareProfile& profile_;
  Precision precision_;
  BusyRanks busy_;
  std::array<RatioCurve, kNumKernels> curves_;
  struct Calls {
    Seconds forward{}, backward{};
    Seconds of(CallKind kind) const { return kind == CallKind::Forward ? forward : kind == CallKind::Backward ? backward : Seconds{}; }
  };
  Calls around_, issued_;  // of the device, beyond kernel_overhead; of a host that issues ahead
  std::int32_t measured_concurrency_ = 1;
};

}  // namespace sim
