// Work that LibTorch has an operator for on GPUs alone: whether it takes these numbers on this card. Plain questions, so that a test can ask them of a
// card that is not there. Who does the work calls the operator (executor/model); what does it everywhere else is its reference (tests, label gpu).
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace executor {

struct Card {
  bool is_gpu = false;
  std::int32_t capability = 0;  // 90: Hopper
};
Card card_of(c10::Device device);  // no GPU: a CPU, another device, a build without CUDA

// at::addmm with an output type: a product of 16-bit numbers is added to a fp32 sum without being rounded in between.
struct SumTypes {
  at::ScalarType product, sum;
};
bool adds_unrounded(Card card, SumTypes types);

// at::_scaled_dot_product_flash_attention, which also gives the log-sum-exp of the scores: heads of 16 bits, up to 256 wide.
struct HeadNumbers {
  at::ScalarType type;
  std::int64_t width;
};
bool attends_by_blocks(Card card, HeadNumbers heads);

// at::_grouped_mm: rows of many matrices by one product, where they end is read on the card. bf16, rows of whole 16 bytes.
struct GroupedNumbers {
  at::ScalarType type;
  std::int64_t inputs, outputs;
};
bool multiplies_groups(Card card, GroupedNumbers numbers);

// at::_scaled_mm of 8-bit numbers, by what shares a scale: a tensor; a row, which puts bf16 out; 128 of a row beside 128 of another, or squares of 128 of a weight (Hopper's alone);
// 32 of a row (Blackwell's).
enum class ScaledBy : std::uint8_t { Tensor, Row, Blocks, Squares, Mx };
struct EightBitProduct {
  ScaledBy scales;
  at::ScalarType output;
  std::int64_t rows, inner, columns;  // of the result, what is summed over, of the result
};
bool multiplies_eight_bits(Card card, EightBitProduct product);

}  // namespace executor
