#include "executor/kernels/exact_sum.h"

#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "executor/kernels/exact_limbs.h"
#include "executor/kernels/on_device.h"
#include "executor/kernels/square_sums.h"

namespace executor {
namespace {

static_assert(ExactSum::kBlock == kSquareBlock);

using Limbs = std::array<std::int64_t, ExactSum::kLimbs>;

static_assert(ExactSum::kLimbs == kLimbs);

constexpr std::size_t kNotFinite = kNotFiniteLimb;
constexpr std::int32_t kAddsBeforeCarry = 1 << 29;  // each adds less than 2^33 to a limb of 63 bits

template <class Number>
void add_block_sums(ExactSum& sum, const Number* values, std::int64_t elements) {
  constexpr std::int64_t kBatch = 64;
  double sums[kBatch];
  const std::int64_t blocks = elements / kSquareBlock;
  for (std::int64_t first = 0; first < blocks; first += kBatch) {
    const std::int64_t count = std::min(kBatch, blocks - first);
    square_sums(SquareBlocks<Number>{.values = values + first * kSquareBlock, .blocks = count, .sums = sums});
    for (std::int64_t i = 0; i < count; ++i) sum.add(sums[i]);
  }
  const std::int64_t rest = elements % kSquareBlock;
  if (rest == 0) return;
  Number last[kSquareBlock] = {};  // a short block counts as if it were filled with zeros
  std::copy_n(values + elements - rest, rest, last);
  square_sums(SquareBlocks<Number>{.values = last, .blocks = 1, .sums = sums});
  sum.add(sums[0]);
}

}  // namespace

void ExactSum::add(double value) {
  if (!is_finite(value)) {
    ++limbs_[kNotFinite];
    return;
  }
  const LimbParts parts = limb_parts(value);
  const auto first = static_cast<std::size_t>(parts.first);
  limbs_[first] += parts.low;
  limbs_[first + 1] += parts.middle;
  limbs_[first + 2] += parts.high;
  if (++adds_since_carry_ == kAddsBeforeCarry) normalise();
}

void ExactSum::add(const ExactSum& other) {
  ExactSum digits = other;
  digits.normalise();
  for (std::size_t i = 0; i < kLimbs; ++i) limbs_[i] += digits.limbs_[i];
  if (++adds_since_carry_ == kAddsBeforeCarry) normalise();
}

void ExactSum::add_limbs(const at::Tensor& limbs) {
  const at::Tensor host = limbs.cpu();
  ExactSum other;
  std::copy_n(host.const_data_ptr<std::int64_t>(), kLimbs, other.limbs_.begin());
  add(other);
}

void ExactSum::add_values(const at::Tensor& device_values) {
  TORCH_CHECK(device_values.is_contiguous(), "an exact sum takes contiguous tensors");
  const at::Tensor values = device_values.cpu();
  const auto add_all = [&](const auto* numbers) {
    for (std::int64_t i = 0; i < values.numel(); ++i) add(static_cast<double>(numbers[i]));
  };
  if (values.scalar_type() == at::kDouble)
    add_all(values.const_data_ptr<double>());
  else
    add_all(values.const_data_ptr<float>());
}

void ExactSum::add_squares(const at::Tensor& values) {
  TORCH_CHECK(values.is_contiguous(), "an exact sum takes contiguous tensors");
  if (!values.is_cpu()) {
    const at::Tensor limbs = at::zeros({static_cast<std::int64_t>(kLimbs)}, values.options().dtype(at::kLong));
    on_device::add_squares(limbs, values);
    return add_limbs(limbs);
  }
  const void* memory = values.data_ptr();
  switch (values.scalar_type()) {
    case at::kFloat: return add_block_sums(*this, static_cast<const float*>(memory), values.numel());
    case at::kDouble: return add_block_sums(*this, static_cast<const double*>(memory), values.numel());
    case at::kBFloat16: return add_block_sums(*this, static_cast<const Bfloat16Bits*>(memory), values.numel());
    case at::kHalf: return add_block_sums(*this, static_cast<const Float16Bits*>(memory), values.numel());
    default: TORCH_CHECK(false, "no squares of ", values.scalar_type());
  }
}

void ExactSum::normalise() {
  carry(limbs_.data());
  adds_since_carry_ = 0;
}

double ExactSum::value() const {
  Limbs digits = limbs_;
  return limbs_value(digits.data());
}

}  // namespace executor
