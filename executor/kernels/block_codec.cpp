#include "executor/kernels/block_codec.h"

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/round.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Float8_e4m3fn.h>

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "sim/units/at.h"

namespace executor {
namespace {

constexpr std::int64_t kScaleBytes = 4, kNibble = 8;

constexpr float largest(BlockFormat format) {
  switch (format) {
    case BlockFormat::Fp8: return 448;  // e4m3 without infinities
    case BlockFormat::Int8: return 127;
    default: return 7;
  }
}

std::int64_t bytes_of_codes(BlockFormat format, std::int64_t elements) { return format == BlockFormat::Int4 ? elements / 2 : elements; }

std::uint8_t code_of(float number, BlockFormat format) {
  if (format == BlockFormat::Fp8) return c10::detail::fp8e4m3fn_from_fp32_value(number);
  return static_cast<std::uint8_t>(static_cast<std::int8_t>(std::nearbyint(number)));
}

float number_of(std::uint8_t code, BlockFormat format) {
  return format == BlockFormat::Fp8 ? c10::detail::fp8e4m3fn_to_fp32_value(code) : static_cast<float>(static_cast<std::int8_t>(code));
}

// NaN where a number is not finite.
template <class Number>
float scale_of(const Number* values, BlockFormat format) {
  float most = 0;
  bool is_finite = true;
  for (std::int64_t at = 0; at < kBlockElements; ++at) {
    const float magnitude = std::abs(static_cast<float>(values[at]));
    is_finite = is_finite && std::isfinite(magnitude);
    most = std::max(most, magnitude);
  }
  return is_finite ? most / largest(format) : std::numeric_limits<float>::quiet_NaN();
}

template <class Number>
void encode_block(const Number* values, std::uint8_t* codes, float scale, BlockFormat format) {
  const auto code = [&](std::int64_t at) {
    return scale > 0 ? code_of(static_cast<float>(values[at]) / scale, format) : code_of(std::isnan(scale) ? 1.0F : 0.0F, format);
  };
  if (format != BlockFormat::Int4) {
    for (std::int64_t at = 0; at < kBlockElements; ++at) codes[at] = code(at);
    return;
  }
  for (std::int64_t at = 0; at < kBlockElements; at += 2)
    codes[at / 2] = static_cast<std::uint8_t>((code(at) + kNibble) | (code(at + 1) + kNibble) << 4);
}

std::uint8_t code_at(const std::uint8_t* codes, std::int64_t at, BlockFormat format) {
  if (format != BlockFormat::Int4) return codes[at];
  return static_cast<std::uint8_t>((at % 2 == 0 ? codes[at / 2] & 0xF : codes[at / 2] >> 4) - kNibble);
}

struct Codes {
  const std::uint8_t* codes;
  const float* scales;
};
Codes codes_of(const at::Tensor& bytes, BlockFormat format, std::int64_t elements) {
  const std::uint8_t* begin = bytes.const_data_ptr<std::uint8_t>();
  return {begin, reinterpret_cast<const float*>(begin + bytes_of_codes(format, elements))};
}

template <class Number>
void decode_block(Number* values, std::span<const Codes> sources, std::int64_t block, BlockFormat format) {
  using Sum = std::conditional_t<std::is_same_v<Number, double>, double, float>;
  std::array<Sum, kBlockElements> sums{};
  for (const Codes& source : sources)
    for (std::int64_t at = 0; at < kBlockElements; ++at)
      sim::at(sums, at) +=
          static_cast<Sum>(number_of(code_at(source.codes, block * kBlockElements + at, format), format) * source.scales[block]);
  for (std::int64_t at = 0; at < kBlockElements; ++at) values[block * kBlockElements + at] = static_cast<Number>(sim::at(sums, at));
}

// On a device that has no loop of ours.
void compose_codes(const at::Tensor& bytes, const at::Tensor& values, BlockFormat format) {
  const std::int64_t coded = bytes_of_codes(format, values.numel());
  const at::Tensor rows = values.view({-1, kBlockElements}).to(at::kFloat);
  const at::Tensor most = at::amax(at::abs(rows), 1, true);
  const at::Tensor is_finite = at::isfinite(rows).all(1, true);
  const at::Tensor scale = at::where(is_finite, most / largest(format), at::full_like(most, std::numeric_limits<float>::quiet_NaN()));
  const at::Tensor numbers = at::where(is_finite, at::where(scale > 0, rows / scale, at::zeros_like(rows)), at::full_like(rows, 1.0));
  at::Tensor codes;
  if (format == BlockFormat::Fp8)
    codes = numbers.to(at::kFloat8_e4m3fn).view(at::kByte).reshape({-1});
  else
    codes = at::round(numbers).to(at::kChar).reshape({-1});
  if (format == BlockFormat::Int8) codes = codes.view(at::kByte);
  if (format == BlockFormat::Int4) {
    const at::Tensor pairs = (codes + kNibble).to(at::kByte).view({-1, 2});
    codes = pairs.select(1, 0).bitwise_or(pairs.select(1, 1) * 16);
  }
  bytes.narrow(0, 0, coded).copy_(codes);
  bytes.narrow(0, coded, bytes.numel() - coded).copy_(scale.reshape({-1}).contiguous().view(at::kByte));
}

at::Tensor composed_numbers(const at::Tensor& bytes, std::int64_t elements, BlockFormat format) {
  const std::int64_t coded = bytes_of_codes(format, elements);
  at::Tensor codes = bytes.narrow(0, 0, coded);
  if (format == BlockFormat::Int4)
    codes = (at::stack({codes.bitwise_and(0xF), codes.div(16, "floor")}, 1).to(at::kChar) - kNibble).reshape({-1});
  const at::Tensor numbers = format == BlockFormat::Fp8    ? codes.contiguous().view(at::kFloat8_e4m3fn).to(at::kFloat)
                             : format == BlockFormat::Int8 ? codes.contiguous().view(at::kChar).to(at::kFloat)
                                                           : codes.to(at::kFloat);
  const at::Tensor scales = bytes.narrow(0, coded, bytes.numel() - coded).clone().view(at::kFloat);
  return (numbers.view({-1, kBlockElements}) * scales.unsqueeze(1)).reshape({-1});
}

}  // namespace

std::int64_t code_bytes(BlockFormat format, std::int64_t elements) {
  return bytes_of_codes(format, elements) + kScaleBytes * (elements / kBlockElements);
}

void encode_blocks(const at::Tensor& codes, const at::Tensor& values, BlockFormat format) {
  if (!values.is_cpu()) return compose_codes(codes, values, format);
  std::uint8_t* const bytes = codes.data_ptr<std::uint8_t>();
  auto* const scales = reinterpret_cast<float*>(bytes + bytes_of_codes(format, values.numel()));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, values.scalar_type(), "encode_blocks", [&] {
    const scalar_t* const numbers = values.const_data_ptr<scalar_t>();
    for (std::int64_t block = 0; block < values.numel() / kBlockElements; ++block) {
      scales[block] = scale_of(numbers + block * kBlockElements, format);
      encode_block(numbers + block * kBlockElements, bytes + bytes_of_codes(format, block * kBlockElements), scales[block], format);
    }
  });
}

void decode_sum(const at::Tensor& values, std::span<const at::Tensor> sources, BlockFormat format) {
  if (!values.is_cpu()) {
    at::Tensor sum = composed_numbers(sources.front(), values.numel(), format);
    if (values.scalar_type() == at::kDouble) sum = sum.to(at::kDouble);
    for (const at::Tensor& source : sources.subspan(1)) sum.add_(composed_numbers(source, values.numel(), format));
    values.copy_(sum);
    return;
  }
  std::vector<Codes> all;
  for (const at::Tensor& source : sources) all.push_back(codes_of(source, format, values.numel()));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, values.scalar_type(), "decode_sum", [&] {
    for (std::int64_t block = 0; block < values.numel() / kBlockElements; ++block)
      decode_block(values.data_ptr<scalar_t>(), all, block, format);
  });
}

}  // namespace executor
