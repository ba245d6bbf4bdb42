#include "sim/plan/wire_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "sim/units/number_text.h"

namespace sim {
namespace {

constexpr std::array kCodecs = std::to_array<CodecRow>({
    {.name = "bf16", .codec = Codec::Bf16, .form = CodecForm::Cast, .bits = 16, .of_gradients = true, .of_weights = false},
    {.name = "fp16", .codec = Codec::Fp16, .form = CodecForm::Cast, .bits = 16, .of_gradients = true, .of_weights = false},
    {.name = "fp8", .codec = Codec::Fp8, .form = CodecForm::Blocks, .bits = 8, .of_gradients = true, .of_weights = false},
    {.name = "int8", .codec = Codec::Int8, .form = CodecForm::Blocks, .bits = 8, .of_gradients = true, .of_weights = true},
    {.name = "int4",
     .codec = Codec::Int4,
     .form = CodecForm::Blocks,
     .bits = 4,
     .of_gradients = true,
     .of_weights = false,
     .takes_two_exchanges = true},
    {.name = "powersgd", .codec = Codec::PowerSgd, .form = CodecForm::LowRank, .of_gradients = true, .of_weights = false},
});

}  // namespace

std::span<const CodecRow> all_codecs() { return kCodecs; }

const CodecRow& codec_row(Codec codec) {
  const auto* const row = std::find_if(kCodecs.begin(), kCodecs.end(), [&](const CodecRow& one) { return one.codec == codec; });
  if (row == kCodecs.end()) std::abort();
  return *row;
}

Bytes encoded_bytes(Codec codec, std::int64_t elements) {
  const CodecRow& row = codec_row(codec);
  const Bytes values((elements * row.bits + 7) / 8);
  return row.form == CodecForm::Cast ? values : values + kCodecScale * ((elements + kCodecBlock - 1) / kCodecBlock);
}

std::string to_text(WireCodec codec) {
  if (!codec) return {};
  const CodecRow& row = codec_row(codec.codec);
  return row.form == CodecForm::LowRank ? fmt::format("{}:{}", row.name, codec.rank) : std::string(row.name);
}

std::optional<WireCodec> parse_wire_codec(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* const row = std::find_if(kCodecs.begin(), kCodecs.end(), [&](const CodecRow& one) { return one.name == name; });
  const bool takes_rank = row != kCodecs.end() && row->form == CodecForm::LowRank;
  if (row == kCodecs.end() || row->form == CodecForm::Cast || takes_rank != (colon != std::string_view::npos)) return std::nullopt;
  if (!takes_rank) return WireCodec{row->codec, 0};
  const auto rank = number_in<std::int32_t>(text.substr(colon + 1), 1, kMostColumns);
  return rank ? std::optional(WireCodec{row->codec, *rank}) : std::nullopt;
}

std::int64_t low_rank_columns(MatrixSize matrix, WireCodec codec) {
  if (!codec.is_low_rank()) return 0;
  const std::int64_t rank = std::min({std::int64_t{codec.rank}, matrix.rows, matrix.columns});
  return 2 * rank * (matrix.rows + matrix.columns) < matrix.rows * matrix.columns ? rank : 0;
}

}  // namespace sim
