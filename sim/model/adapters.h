// Low-rank adapters beside frozen products (LoRA, Hu et al. 2021; QLoRA, Dettmers et al. 2023): y = W x + alpha / r B (A x), A [r, in], B [out, r]. All but
// A and B is frozen: it has no gradient, no optimizer state, no masters, and no rank reduces anything of it. One value with one text, which plan
// file, command line and tables share:
//
//   ""                                      none: everything is trained
//   "rank 16 on q,k,v,o"                    a pair of its own beside each product; alpha is the rank
//   "rank 16 alpha 32 on q,v"               what they put out counts twice
//   "rank 8 on qkv,o,gate_up,down base nf4" one pair beside products that are one matrix (Megatron, GPT-2), over weights that are kept in 4 bits
//
//   "rank 16 on q,v dropout 0.05"           of what each pair reads a part is left out: a copy of it, and a mask, are kept for the backward
//
//   base    bytes of a weight                                                        a product first makes 16 bit of them
//   int8    1                       fp8  1
//   int4    0.52   a 16-bit scale and a 4-bit zero for 128 (GPTQ, Frantar et al. 2022)
//   nf4     0.516  a scale for 64, itself in 8 bit, one of 32 bits for 256 of them
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"

namespace sim {

enum class AdapterTarget : std::uint8_t { Query, Key, Value, Joint, Output, Gate, Up, Wide, Down };
inline constexpr std::string_view kAdapterTargetNames[] = {"q", "k", "v", "qkv", "o", "gate", "up", "gate_up", "down"};
enum class BaseFormat : std::uint8_t { Weights, Int8, Fp8, Int4, Nf4 };  // Weights: as the others
inline constexpr std::string_view kBaseFormatNames[] = {"weights", "int8", "fp8", "int4", "nf4"};

struct Adapters {
  std::int64_t rank = 16;
  std::uint32_t targets = 0;  // a bit each
  BaseFormat base = BaseFormat::Weights;
  std::int64_t alpha = 0;  // 0: the rank
  double dropout = 0;      // of what A reads, drawn for each pair
  double scale() const { return alpha == 0 ? 1.0 : static_cast<double>(alpha) / static_cast<double>(rank); }
  bool has(AdapterTarget target) const { return (targets >> static_cast<std::uint32_t>(target) & 1) != 0; }
  Adapters on(AdapterTarget target) const {
    Adapters more = *this;
    more.targets |= 1U << static_cast<std::uint32_t>(target);
    return more;
  }
  bool operator==(const Adapters&) const = default;
};

double base_bytes(BaseFormat base, double of_weights);
std::string to_text(const std::optional<Adapters>& adapters);
// What is wrong is told in `violations`, by word.
std::optional<Adapters> parse_adapters(std::string_view text, std::vector<Violation>& violations);

struct ModelConfig;
struct Operator;
// The pairs beside a product: so many A's, and the width of what all B's put out. None: it has no adapter. Each adds to one of the blocks, in their
// order; a single pair to all of them.
struct AdapterBlock {
  std::int64_t begin = 0, outputs = 0;  // of what the product puts out
};
struct AdapterPairs {
  std::int64_t pairs = 0, outputs = 0;
  std::vector<AdapterBlock> blocks{};
};
AdapterPairs adapter_pairs(const ModelConfig& config, const Operator& op);
std::vector<Violation> adapter_violations(const ModelConfig& config);  // targets that the network has not; at "/workload/adapters"

}  // namespace sim
