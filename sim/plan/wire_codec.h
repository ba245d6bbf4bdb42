// How numbers are written in fewer bytes while they cross links between data ranks: a table of codecs. What is kept stays in its own type.
//
//   name       an element                              form                                                     state        source
//   bf16,fp16  2 bytes                                 cast, summed, cast back: inside the reduction's task       none        PyTorch's hooks
//   fp8        e4m3, a scale in fp32 for 64            encode, all-to-all, decode and sum in rank order           none        -
//   int8       as fp8                                  as fp8; gathers: encode, all-gather, decode                none        ZeRO++ (qwZ)
//   int4       4 bits, a scale in fp32 for 64          as fp8; where neighbours are named, twice: among them,     none        ZeRO++ (qgZ)
//                                                      summed, encoded again, then across
//   powersgd:r two matrices of r columns for one       encode, all-reduce P, project, all-reduce Q, decode        error, Q    Vogels et al. 2019
//
// ZeRO++: Wang et al. 2023. PowerSGD compresses a matrix n x m where that at least halves it, 2 r (n + m) < n m, as PyTorch's powerSGD_hook does;
// what is left travels beside P as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/units/quantity.h"

namespace sim {

enum class Codec : std::uint8_t { None, Bf16, Fp16, Fp8, Int8, Int4, PowerSgd };
// Cast: of the type that a reduction sums in. Blocks: every block of numbers with a scale. LowRank: of matrices.
enum class CodecForm : std::uint8_t { Cast, Blocks, LowRank };

struct CodecRow {
  std::string_view name;
  Codec codec{};
  CodecForm form{};
  std::int64_t bits = 0;             // of an element of a block
  bool of_gradients, of_weights;     // wire=, gathers=
  bool takes_two_exchanges = false;  // among neighbours, then across
};
std::span<const CodecRow> all_codecs();
const CodecRow& codec_row(Codec codec);  // not of None

inline constexpr std::int64_t kCodecBlock = 64;  // elements of a scale: slots of buckets begin on it, so shards never cut a block
inline constexpr Bytes kCodecScale{4};
Bytes encoded_bytes(Codec codec, std::int64_t elements);  // of Cast and Blocks

struct WireCodec {
  Codec codec = Codec::None;
  std::int32_t rank = 0;  // of PowerSgd: columns
  explicit operator bool() const { return codec != Codec::None; }
  CodecForm form() const { return codec_row(codec).form; }
  bool is_blocks() const { return codec != Codec::None && form() == CodecForm::Blocks; }
  bool is_low_rank() const { return codec != Codec::None && form() == CodecForm::LowRank; }
  bool operator==(const WireCodec&) const = default;
};
inline constexpr std::int32_t kMostColumns = 1024;

std::string to_text(WireCodec codec);                              // "int8", "powersgd:4"
std::optional<WireCodec> parse_wire_codec(std::string_view text);  // of Blocks and LowRank: types are no codecs of their own

struct MatrixSize {
  std::int64_t rows = 0, columns = 0;
};
// Columns of P and Q: no more than the matrix has; 0: it travels as it is.
std::int64_t low_rank_columns(MatrixSize matrix, WireCodec codec);

}  // namespace sim
