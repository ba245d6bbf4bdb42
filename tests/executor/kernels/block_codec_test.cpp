#include "executor/kernels/block_codec.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

constexpr std::array kFormats{BlockFormat::Fp8, BlockFormat::Int8, BlockFormat::Int4};

at::Tensor waves(std::int64_t elements, double height = 1) {
  at::Tensor values = at::empty({elements}, at::kDouble);
  for (std::int64_t at = 0; at < elements; ++at) values.data_ptr<double>()[at] = height * std::sin(0.37 * static_cast<double>(at * at));
  return values;
}

at::Tensor codes_of(const at::Tensor& values, BlockFormat format) {
  at::Tensor codes = at::empty({code_bytes(format, values.numel())}, values.options().dtype(at::kByte));
  encode_blocks(codes, values, format);
  return codes;
}

at::Tensor through(const at::Tensor& values, BlockFormat format) {
  at::Tensor result = at::empty_like(values);
  decode_sum(result, std::array{codes_of(values, format)}, format);
  return result;
}

TEST(BlockCodec, Bytes) {
  EXPECT_EQ(code_bytes(BlockFormat::Int8, 640), 640 + 40);
  EXPECT_EQ(code_bytes(BlockFormat::Fp8, 640), 640 + 40);
  EXPECT_EQ(code_bytes(BlockFormat::Int4, 640), 320 + 40);
}

// Half a step of a block's own scale at most; e4m3 has three bits behind the leading one.
TEST(BlockCodec, ErrorIsHalfAStep) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16})
    for (const double height : {1e-6, 1.0, 1e6}) {
      const at::Tensor values = waves(256, height).to(type), exact = values.to(at::kDouble);
      const double rounding = type == at::kBFloat16 ? 0x1p-8 : 1e-6;
      for (const auto& [format, step] : {std::pair(BlockFormat::Int8, 0.5 / 127), {BlockFormat::Int4, 0.5 / 7}}) {
        const at::Tensor off = (through(values, format).to(at::kDouble) - exact).abs().view({-1, 64});
        const at::Tensor most = exact.abs().view({-1, 64}).amax({1}, true);
        EXPECT_TRUE((off <= most * (step + rounding)).all().item<bool>());
        EXPECT_GT(off.max().item<double>(), 0);
      }
      const at::Tensor off = (through(values, BlockFormat::Fp8).to(at::kDouble) - exact).abs();
      const at::Tensor most = exact.abs().view({-1, 64}).amax({1}, true).expand({-1, 64}).reshape({-1});
      EXPECT_TRUE((off <= exact.abs() * (0x1p-4 + rounding) + most * 0x1p-10 / 448).all().item<bool>());
    }
}

// The largest of a block comes back as it was, zeros are zeros, and blocks do not know of each other.
TEST(BlockCodec, BlocksAreApart) {
  for (const BlockFormat format : kFormats) {
    at::Tensor values = at::zeros({128}, at::kFloat);
    EXPECT_TRUE(at::equal(through(values, format), values));
    values[3] = 448.0;
    values[70] = -7e-5;
    const at::Tensor back = through(values, format);
    EXPECT_EQ(back[3].item<float>(), 448.0F);
    EXPECT_FLOAT_EQ(back[70].item<float>(), -7e-5F);
    EXPECT_EQ((back != 0).sum().item<std::int64_t>(), 2);
  }
}

TEST(BlockCodec, WhatIsNotFiniteIsSeen) {
  for (const BlockFormat format : kFormats)
    for (const float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      at::Tensor values = waves(128).to(at::kFloat);
      values[5] = odd;
      const at::Tensor back = through(values, format);
      EXPECT_TRUE(std::isnan(back[5].item<float>()));
      EXPECT_TRUE(at::equal(back.narrow(0, 64, 64), through(values.narrow(0, 64, 64).contiguous(), format)));
    }
}

TEST(BlockCodec, SumsInOrder) {
  for (const BlockFormat format : kFormats) {
    const at::Tensor a = waves(128), b = waves(128, 3), sum = at::empty_like(a);
    decode_sum(sum, std::array{codes_of(a, format), codes_of(b, format)}, format);
    EXPECT_TRUE(at::equal(sum, through(a, format) + through(b, format)));
  }
}

// A device without loops of ours has the same codes and numbers.
TEST(BlockCodec, ADeviceHasTheSameBits) {
  for (const BlockFormat format : kFormats)
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
      at::Tensor values = waves(256, 0.3).to(type);
      values.narrow(0, 64, 64).zero_();
      const at::Tensor there = values.to(checked_device());
      EXPECT_TRUE(at::equal(codes_of(there, format).cpu(), codes_of(values, format)));
      EXPECT_TRUE(at::equal(through(there, format).cpu(), through(values, format)));
    }
}

}  // namespace
}  // namespace executor
