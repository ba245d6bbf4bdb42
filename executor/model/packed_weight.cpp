#include "executor/model/packed_weight.h"

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "executor/kernels/code_tables.h"
#include "sim/units/at.h"

namespace executor {
namespace {

using sim::kScaledBlock;
using sim::kScaledScales;

constexpr float kLargestByte = 127;

// Which blocks of the whole piece a tensor rank's are: stretches of neighbours, `distance` apart.
struct OwnBlocks {
  std::int64_t first = 0, stretch = 1, distance = 1;
  std::int64_t whole(std::int64_t own) const { return first + own / stretch * distance + own % stretch; }
};
OwnBlocks own_blocks(const sim::PackedPiece& piece, TensorPosition tensor) {
  if (piece.columns < piece.whole_columns)
    return {.first = tensor.rank * piece.columns / kScaledBlock,
            .stretch = piece.columns / kScaledBlock,
            .distance = piece.whole_columns / kScaledBlock};
  const bool is_cut = piece.rows < piece.whole_rows;
  return {.first = is_cut ? tensor.rank * piece.elements() / kScaledBlock : 0, .stretch = piece.blocks(), .distance = 0};
}

// One piece, on the host: what it is made of, and into what.
struct Packing {
  const sim::PackedPiece& piece;
  TensorPosition tensor;
  const float* whole;
  std::uint8_t* packed;
  sim::PackedLayout layout;
  float* floats(std::int64_t at) const { return reinterpret_cast<float*>(packed + at); }
};

float largest(const float* numbers, std::int64_t count) {
  return std::accumulate(numbers, numbers + count, 0.0F, [](float most, float one) { return std::max(most, std::abs(one)); });
}

std::int64_t size_of_block(const sim::PackedPiece& piece, std::int64_t block) {
  return std::min(kScaledBlock, piece.whole_elements() - block * kScaledBlock);
}

std::uint8_t code_of(float number, float most) {
  return most == 0 ? kZeroOfNf4 : nearest_code(kNf4, std::clamp(number * (1 / most), -1.0F, 1.0F));
}

// Scales of the whole piece, so that their mean and their own scales are everyone's; kept of the own blocks.
void pack_scales(const Packing& at, std::vector<float> largests) {
  const double sum = std::accumulate(largests.begin(), largests.end(), 0.0);
  const auto mean = static_cast<float>(sum / static_cast<double>(largests.size()));
  for (float& scale : largests) scale -= mean;
  *at.floats(at.layout.mean) = mean;
  const auto count = static_cast<std::int64_t>(largests.size());
  for (std::int64_t group = 0; group < at.piece.scales_of_scales(); ++group) {
    const std::int64_t first = group * kScaledScales;
    at.floats(at.layout.scales)[group] = largest(&sim::at(largests, first), std::min(kScaledScales, count - first));
  }
  const OwnBlocks own = own_blocks(at.piece, at.tensor);
  for (std::int64_t block = 0; block < at.piece.blocks(); ++block) {
    const std::int64_t whole = own.whole(block);
    const float most = at.floats(at.layout.scales)[whole / kScaledScales];
    const float share = most == 0 ? 0 : std::clamp(sim::at(largests, whole) * (1 / most), -1.0F, 1.0F);
    at.packed[at.layout.block_scales + block] = nearest_code(signed_tree(), share);
  }
}

void pack_nf4(const Packing& at) {
  std::vector<float> largests(sim::count_of(at.piece.whole_blocks()));
  for (std::int64_t block = 0; block < at.piece.whole_blocks(); ++block)
    sim::at(largests, block) = largest(at.whole + block * kScaledBlock, size_of_block(at.piece, block));
  std::uint8_t* const codes = at.packed + at.layout.codes;
  std::fill_n(codes, (at.piece.elements() + 1) / 2, std::uint8_t{0});
  const OwnBlocks own = own_blocks(at.piece, at.tensor);
  for (std::int64_t block = 0; block < at.piece.blocks(); ++block) {
    const std::int64_t whole = own.whole(block), count = size_of_block(at.piece, whole);
    for (std::int64_t each = 0; each < count; ++each) {
      const std::uint8_t code = code_of(at.whole[whole * kScaledBlock + each], sim::at(largests, whole));
      codes[(block * kScaledBlock + each) / 2] |=
          static_cast<std::uint8_t>(each % 2 == 0 ? code << 4 : code);  // the first in the upper half
    }
  }
  pack_scales(at, std::move(largests));
}

void pack_int8(const Packing& at) {
  const bool by_rows = at.piece.rows < at.piece.whole_rows, by_columns = at.piece.columns < at.piece.whole_columns;
  const std::int64_t first_row = by_rows ? at.tensor.rank * at.piece.rows : 0, first = by_columns ? at.tensor.rank * at.piece.columns : 0;
  for (std::int64_t row = 0; row < at.piece.rows; ++row) {
    const float* const numbers = at.whole + (first_row + row) * at.piece.whole_columns;
    const float most = largest(numbers, at.piece.whole_columns), factor = most == 0 ? 0 : kLargestByte / most;
    at.floats(at.layout.scales)[row] = most / kLargestByte;
    for (std::int64_t column = 0; column < at.piece.columns; ++column)
      at.packed[at.layout.codes + row * at.piece.columns + column] =
          static_cast<std::uint8_t>(static_cast<std::int8_t>(std::nearbyint(numbers[first + column] * factor)));
  }
}

// One piece, read on the host.
template <class Number>
struct Unpacking {
  const sim::PackedPiece& piece;
  TensorPosition tensor;
  const std::uint8_t* packed;
  sim::PackedLayout layout;
  Number* numbers;
  const float* floats(std::int64_t at) const { return reinterpret_cast<const float*>(packed + at); }
};

template <class Number>
void unpack_nf4(const Unpacking<Number>& at) {
  const OwnBlocks own = own_blocks(at.piece, at.tensor);
  const std::uint8_t *codes = at.packed + at.layout.codes, *scales = at.packed + at.layout.block_scales;
  for (std::int64_t block = 0; block < at.piece.blocks(); ++block) {
    const std::int64_t first = block * kScaledBlock, count = std::min(kScaledBlock, at.piece.elements() - first);
    const float of_scales = at.floats(at.layout.scales)[own.whole(block) / kScaledScales];
    const float scaled = sim::at(signed_tree(), scales[block]) * of_scales, scale = scaled + *at.floats(at.layout.mean);
    for (std::int64_t each = first; each < first + count; ++each) {
      const std::uint8_t both = codes[each / 2];
      at.numbers[each] = static_cast<Number>(sim::at(kNf4, each % 2 == 0 ? both >> 4 : both & 15) * scale);
    }
  }
}

template <class Number>
void unpack_int8(const Unpacking<Number>& at) {
  const std::uint8_t* const codes = at.packed + at.layout.codes;
  for (std::int64_t row = 0; row < at.piece.rows; ++row)
    for (std::int64_t each = row * at.piece.columns; each < (row + 1) * at.piece.columns; ++each)
      at.numbers[each] = static_cast<Number>(static_cast<float>(static_cast<std::int8_t>(codes[each])) * at.floats(at.layout.scales)[row]);
}

// The same by LibTorch's operators, for a device without a loop of ours.
struct Composing {
  const sim::PackedPiece& piece;
  TensorPosition tensor;
  at::Tensor packed;
  sim::PackedLayout layout;
  at::Tensor bytes(std::int64_t first, std::int64_t count) const { return packed.narrow(0, first, count); }
  at::Tensor floats(std::int64_t first, std::int64_t count) const { return bytes(first, count * 4).clone().view(at::kFloat); }
  at::Tensor table(std::span<const float> numbers) const {
    return at::from_blob(const_cast<float*>(numbers.data()), {static_cast<std::int64_t>(numbers.size())}, at::kFloat).to(packed.device());
  }
};

at::Tensor composed_nf4(const Composing& at) {
  const OwnBlocks own = own_blocks(at.piece, at.tensor);
  const at::Tensor block = at::arange(at.piece.blocks(), at.packed.options().dtype(at::kLong));
  const at::Tensor whole = block.div(own.stretch, "floor").mul_(own.distance).add_(block.remainder(own.stretch)).add_(own.first);
  const at::Tensor of_scales = at.floats(at.layout.scales, at.piece.scales_of_scales()).index_select(0, whole.div(kScaledScales, "floor"));
  const at::Tensor scaled = at.table(signed_tree()).index_select(0, at.bytes(at.layout.block_scales, at.piece.blocks()).to(at::kLong));
  const at::Tensor scale = scaled.mul_(of_scales).add_(at.floats(at.layout.mean, 1));
  const at::Tensor both = at.bytes(at.layout.codes, (at.piece.elements() + 1) / 2).to(at::kLong);
  const at::Tensor codes = at::stack({both.bitwise_right_shift(4), both.bitwise_and(15)}, 1).view({-1}).narrow(0, 0, at.piece.elements());
  const at::Tensor of_elements = scale.repeat_interleave(kScaledBlock).narrow(0, 0, at.piece.elements());
  return at.table(kNf4).index_select(0, codes).mul_(of_elements);
}

at::Tensor composed_int8(const Composing& at) {
  const at::Tensor codes = at.bytes(at.layout.codes, at.piece.elements()).view(at::kChar).to(at::kFloat);
  return codes.view({at.piece.rows, -1}).mul(at.floats(at.layout.scales, at.piece.rows).unsqueeze(1)).view({-1});
}

}  // namespace

PackedWeight::PackedWeight(sim::BaseFormat format, const sim::Parameter& parameter, TensorPosition tensor, at::ScalarType numbers)
    : format_(format), pieces_(sim::packed_pieces(parameter, tensor.degree)), tensor_(tensor), numbers_(numbers) {}

at::Tensor PackedWeight::pack(const at::Tensor& whole) const {
  const at::Tensor numbers = whole.to(at::kFloat).contiguous();
  std::int64_t bytes = 0, first = 0;
  for (const sim::PackedPiece& piece : pieces_) bytes += sim::packed_layout(format_, piece).end;
  at::Tensor packed = at::empty({bytes}, at::kByte);
  std::uint8_t* next = packed.data_ptr<std::uint8_t>();
  std::memset(next, 0, sim::count_of(bytes));
  for (const sim::PackedPiece& piece : pieces_) {
    const Packing at{piece, tensor_, numbers.const_data_ptr<float>() + first, next, sim::packed_layout(format_, piece)};
    format_ == sim::BaseFormat::Nf4 ? pack_nf4(at) : pack_int8(at);
    next += at.layout.end;
    first += piece.whole_elements();
  }
  return packed;
}

at::Tensor PackedWeight::unpack(const at::Tensor& packed) const {
  std::int64_t rows = 0, byte = 0, first = 0;
  for (const sim::PackedPiece& piece : pieces_) rows += piece.rows;
  at::Tensor numbers = at::empty({rows, pieces_.front().columns}, packed.options().dtype(numbers_));
  for (const sim::PackedPiece& piece : pieces_) {
    const sim::PackedLayout layout = sim::packed_layout(format_, piece);
    if (packed.is_cpu()) {
      AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, numbers_, "unpack", [&] {
        const Unpacking<scalar_t> at{piece, tensor_, packed.const_data_ptr<std::uint8_t>() + byte, layout,
                                     numbers.data_ptr<scalar_t>() + first};
        format_ == sim::BaseFormat::Nf4 ? unpack_nf4(at) : unpack_int8(at);
      });
    } else {
      const Composing at{piece, tensor_, packed.narrow(0, byte, layout.end), layout};
      numbers.view({-1}).narrow(0, first, piece.elements()).copy_(format_ == sim::BaseFormat::Nf4 ? composed_nf4(at) : composed_int8(at));
    }
    byte += layout.end;
    first += piece.elements();
  }
  return numbers;
}

at::Tensor PackedWeight::block_scales(const at::Tensor& packed) const {
  return packed.narrow(0, sim::packed_layout(format_, pieces_.front()).block_scales, pieces_.front().blocks());
}

}  // namespace executor
