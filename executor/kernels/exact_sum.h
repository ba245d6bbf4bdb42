// A sum of doubles without rounding: a fixed-point number wide enough for every double (Kulisch, "Computer Arithmetic and Validity").
// Whatever the order of adding and the split over ranks, the value is the same, so gradient norm and loss do not depend on the layout.
// Ranks merge by an int64 all-reduce over limbs(). Not for bulk data: about ten nanoseconds an addend.
//
//   value = sum over i of limbs[i] * 2^(32 i - 1074);      limb 67 counts infinities and NaNs
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <span>

namespace executor {

class ExactSum {
 public:
  static constexpr std::size_t kLimbs = 68;
  static constexpr std::int64_t kBlock = 64;  // elements whose squares are first summed in fp64, in a fixed order

  void add(double value);
  void add(const ExactSum& other);
  void add_limbs(const at::Tensor& limbs);  // int64 [kLimbs], of any device: waits for it
  // Values of a contiguous fp32 or fp64 tensor, each exactly.
  void add_values(const at::Tensor& values);
  // Squares of a flat contiguous tensor in blocks of kBlock from its start (the last may be short). Layout-independent if every slot of
  // the buffer begins on a multiple of kBlock.
  void add_squares(const at::Tensor& values);

  double value() const;  // correctly rounded; NaN if anything added was not finite

  // For the merge. After normalise() an all-reduce may sum the limbs of up to 2^30 ranks.
  void normalise();
  std::span<std::int64_t, kLimbs> limbs() { return limbs_; }
  std::span<const std::int64_t, kLimbs> limbs() const { return limbs_; }

 private:
  std::array<std::int64_t, kLimbs> limbs_{};
  std::int32_t adds_since_carry_ = 0;  // limbs hold 2^31 of them
};

}  // namespace executor
