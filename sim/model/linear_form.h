// Layers that carry a state of fixed size from token to token, in place of scores over all tokens: state space models (Mamba-2, Dao and Gu 2024) and
// the gated delta rule (Gated DeltaNet, Yang et al. 2024). In training tokens go in chunks: products inside a chunk, a state handed to the next.
//
//   norm -> product: gate, what is convolved, decays -> causal convolution -> scan -> norm and gate -> product
//
// Selective (Mamba, Gu and Dao 2023): a channel has a step and a state of its own, and no product of matrices makes it:
//
//   norm -> product: values, gate -> causal convolution -> product: narrow steps, B and C -> their norms -> product: steps -> scan with gate -> product
//
// ShortConvolution (LFM2, Liquid AI 2025) has no state: norm -> product: B, C and values -> B values -> causal convolution -> C of it -> product.
//
// A field of ModelConfig.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/units/quantity.h"

namespace sim {

enum class LinearRule : std::uint8_t {
  StateSpace,
  GatedDelta,
  ChannelDelta,
  Selective,
  ShortConvolution
};  // ChannelDelta: each channel of a key decays by itself (Kimi, 2025)
enum class ScanNorms : std::uint8_t {
  None,
  Plain,
  Weighted
};  // of narrow steps, B and C: none, without weights (Falcon Mamba), with (Jamba)

struct LinearForm {
  LinearRule rule = LinearRule::StateSpace;
  std::int64_t heads = 0, groups = 0;  // of values; of queries and keys, which heads share
  std::int64_t key = 0, value = 0;  // widths of a head: its state is a matrix key x value. Of channels: value 1, key the width of a state
  std::int64_t convolution = 4;     // tokens that the causal convolution reads
  std::int64_t chunk = 64;          // tokens whose products are made at once
  std::int64_t step_rank = 0;       // Selective: by way of how many numbers a token's steps are made
  ScanNorms scan_norms = ScanNorms::None;
  bool gate_norm = true;      // StateSpace: what the scan puts out is normed beside its gate
  bool norms_before = false;  // its blocks have norms in front, wherever those of others stand (OLMo Hybrid)
  bool beside = false;        // attention stands beside it, in the same blocks, and reads the same norm (Falcon-H1)
  bool biases = false, convolution_bias = false;
  bool is_delta() const { return rule == LinearRule::GatedDelta || rule == LinearRule::ChannelDelta; }
  bool is_of_channels() const { return rule == LinearRule::Selective || rule == LinearRule::ShortConvolution; }
  bool has_scan() const { return rule != LinearRule::ShortConvolution; }
  std::int64_t narrow() const { return rule == LinearRule::ChannelDelta ? value : 0; }  // by way of which decays and gate are made

  std::int64_t values() const { return heads * value; }
  std::int64_t keys() const { return groups * key; }
  std::int64_t groups_of(std::int64_t ranks) const { return groups > ranks ? groups / ranks : 1; }  // fewer than ranks: each has a copy
  std::int64_t convolved() const { return values() + (is_of_channels() ? 0 : 2 * keys()); }
  std::int64_t scan_inputs() const { return step_rank + 2 * key; }  // Selective: of a token, for all channels
  // Rows of the first product: what is convolved, a gate as wide as the values, and per head a decay (delta: and how much is written).
  std::vector<std::int64_t> row_blocks() const;
  std::int64_t projected() const;
  bool operator==(const LinearForm&) const = default;
};

// One rank's part of a layer.
struct Scan {
  LinearRule rule = LinearRule::StateSpace;
  std::int64_t tokens = 0, heads = 0, groups = 0, key = 0, value = 0, chunk = 1;
};
struct ScanSize {
  std::int64_t tokens = 0, sample = 0, ranks = 1;  // of a rank; of one sample; that share the heads
};
Scan scan_of(const LinearForm& form, const ScanSize& size);
// Multiply-adds count 2. Products of a chunk count as kernels compute them: all of it where keys meet, its lower half where values are summed.
// Selective: 9 for each number of a state (its decay, what enters, the sum, what is read), as programs count them, on no unit for products.
Flops scan_flops(const Scan& scan);
// What the kernels of a forward read and write, one after the other: flash-linear-attention's six, mamba_ssm's five, or its one (selective_scan_fwd).
Bytes scan_bytes(const Scan& scan, Bytes element_size);
double states_of(const Scan& scan);  // numbers of all states, of all tokens
// Of a backward, in units of a forward: every product has two gradients, and half of the forward is made again.
constexpr double kScanBackwardFlops = 2.5, kScanBackwardBytes = 2.6;

}  // namespace sim
