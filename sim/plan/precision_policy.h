// What products compute in, and what each kind of number is kept or sent in: one value with one text, which plan file, command line and tables share.
//
//   "bf16"                            weights and activations in bf16, their gradients too; the optimizer keeps fp32 masters and moments
//   "bf16 gradients=fp32"             gradients are summed in fp32, and so sent
//   "bf16 gradients=fp32 wire=bf16"   summed in fp32, sent in bf16
//   "bf16 masters=bf16 moments=bf16"  no masters beside the weights
//   "bf16 wire=powersgd:4"            gradients cross links encoded (wire_codec.h); "gathers=int8": weights that are gathered from shards do
//   "fp8:delayed"                     products of the blocks in 8 bit with scales from steps before, all else as "bf16" says (scale_recipe.h)
//   "fp8:delayed history=16"          scales from the largest of 16 steps; without it of the step before
//   "fp8:tensorwise unscaled=fp32"    what is not scaled, and all numbers that are kept, as "fp32" says; without it as "bf16"
//   "bf16 embedding=fp32 head=fp32"   these units in full precision beside the others: all numbers of them are fp32, whatever is stated of the others'
//   "bf16 blocks:0-1,30-31=fp32"     likewise of blocks, by their numbers from 0
//   "fp8:tensorwise blocks:0,31=bf16"  these blocks have no scales beside the others: their products compute as unscaled= says
//   "fp8:mx products:attention,experts=bf16"  nor have products of these parts of a block (product_part.h)
//   "fp8:rowwise head=fp8"            the head's product has scales, too
//   "bf16 stream=fp32 routers=fp64"   numbers of a kind, in every block, in a wider type
//   "bf16 norms=fp32"                 weights of norms, and what norms put out, which products cast
//   "fp8:tensorwise gathers=fp8"      what of them is gathered from shards is cast before; "fp4:nvfp4": in 4 bit
//
// What is not stated follows: weights and activations the products, gradients the weights, the wire the gradients; masters of 16-bit weights are fp32,
// others the weights themselves; moments the masters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware_profile.h"
#include "sim/cluster/scale_recipe.h"
#include "sim/model/product_part.h"
#include "sim/plan/block_ranges.h"
#include "sim/plan/wire_codec.h"
#include "sim/units/at.h"
#include "sim/units/index.h"
#include "sim/units/input_error.h"
#include "sim/units/quantity.h"

namespace sim {

// Gradients: as they are summed over microbatches and stepped. Wire: as they cross links.
enum class Numbers : std::uint8_t { Activations, Weights, Gradients, Wire, Masters, Moments };
inline constexpr std::string_view kNumbersNames[] = {"activations", "weights", "gradients", "wire", "masters", "moments"};
inline constexpr std::size_t kNumNumbers = 6;

// Units at the ends of a network that may compute in full precision beside blocks in 16 bit (FSDP 2: a MixedPrecisionPolicy of their own).
enum class EndUnit : std::uint8_t { Embedding, Head };
inline constexpr std::string_view kEndUnitNames[] = {"embedding", "head"};
inline constexpr std::size_t kNumEndUnits = 2;

// Kinds of numbers that may be wider than the blocks that they stand in.
//   stream   what blocks add to, from the embedding to the head: what reads it casts it first, and keeps that
//   routers  products that score experts, and scores: what they read is cast there, and kept as it came
//   norms    their weights, and so what they put out: what reads it casts it first, and keeps that
enum class WideKind : std::uint8_t { Stream, Routers, Norms };
inline constexpr std::string_view kWideKindNames[] = {"stream", "routers", "norms"};
inline constexpr std::size_t kNumWideKinds = 3;

class PrecisionPolicy {
 public:
  PrecisionPolicy(Precision compute = Precision::Fp32) : compute_(compute) {}  // NOLINT: "bf16" is a whole policy

  Precision compute() const { return compute_; }  // of all that is not scaled
  std::optional<ScaleRecipe> scales() const { return scales_; }
  bool gathers_scaled() const { return gathers_scaled_; }
  PrecisionPolicy with(ScaleRecipe scales, bool gathers_scaled) const;  // of products; compute() stays
  std::int32_t scale_history() const { return scale_history_; }         // steps, whose largest maximum gives a delayed scale
  PrecisionPolicy with_scale_history(std::int32_t steps) const;
  Bytes gathered_bytes() const { return gathers_scaled_ ? Bytes(1) : bytes(Numbers::Weights); }  // of a scaled product's weight
  WireCodec gradient_codec() const { return gradient_codec_; }                                   // None: they cross links as of(Wire) says
  WireCodec weight_codec() const { return weight_codec_; }
  PrecisionPolicy with_gradient_codec(WireCodec codec) const;  // in the place of a type of the wire
  PrecisionPolicy with_weight_codec(WireCodec codec) const;
  Precision of(Numbers what) const;
  Bytes bytes(Numbers what) const { return bytes_per_element(of(what)); }
  bool has_masters() const { return of(Numbers::Masters) != of(Numbers::Weights); }  // beside the weights
  PrecisionPolicy with(Numbers what, Precision precision) const;                     // what follows anyway is not stated
  PrecisionPolicy as_it_follows() const;                                             // with nothing stated of what is kept
  bool is_full(EndUnit unit) const { return sim::at(full_, unit); }
  const BlockRanges& full_blocks() const { return full_blocks_; }
  bool is_full_block(std::int64_t block) const { return has(full_blocks_, block); }  // from 0
  const BlockRanges& unscaled_blocks() const { return unscaled_blocks_; }            // beside others, whose products have scales
  ProductParts unscaled_parts() const { return unscaled_parts_; }                    // of every block, likewise
  // Of a network's units: 0 is the embedding, blocks + 1 the head.
  bool is_full_layer(LayerIndex layer, std::int64_t blocks) const {
    if (layer == LayerIndex(0)) return is_full(EndUnit::Embedding);
    return layer.value() > blocks ? is_full(EndUnit::Head) : is_full_block(layer.value() - 1);
  }
  bool has_units_apart() const { return has_full_units() || !unscaled_blocks_.empty(); }  // in a precision of their own
  bool has_full_units() const { return is_full(EndUnit::Embedding) || is_full(EndUnit::Head) || !full_blocks_.empty(); }
  PrecisionPolicy with_full(EndUnit unit) const;
  PrecisionPolicy with_full(BlockRanges blocks) const;  // in the place of those before
  PrecisionPolicy with_unscaled(BlockRanges blocks) const;
  PrecisionPolicy with_unscaled(ProductParts parts) const;
  PrecisionPolicy without_scales() const;            // as blocks that have none see it
  bool scales_head() const { return scales_head_; }  // its product as those of blocks
  PrecisionPolicy with_scaled_head() const;
  std::optional<Precision> of(WideKind kind) const { return sim::at(wide_, kind); }  // none: as the block that it stands in
  PrecisionPolicy with(WideKind kind, Precision precision) const;
  bool states(Numbers what) const { return sim::at(stated_, what).has_value(); }
  bool operator==(const PrecisionPolicy&) const = default;
  bool operator==(Precision) const = delete;  // compute(), or all of it?

 private:
  Precision compute_;
  std::optional<ScaleRecipe> scales_;
  bool gathers_scaled_ = false, scales_head_ = false;
  std::int32_t scale_history_ = 1;
  WireCodec gradient_codec_{}, weight_codec_{};
  std::array<std::optional<Precision>, kNumNumbers> stated_{};
  std::array<bool, kNumEndUnits> full_{};
  BlockRanges full_blocks_, unscaled_blocks_;
  ProductParts unscaled_parts_;
  std::array<std::optional<Precision>, kNumWideKinds> wide_{};
};

// Where none is given: bf16 on GPUs, fp32 on CPUs.
inline Precision usual_precision(DeviceKind kind) { return kind == DeviceKind::Cpu ? Precision::Fp32 : Precision::Bf16; }

std::string to_text(const PrecisionPolicy& policy);
// What is wrong is told in `violations`, by word.
PrecisionPolicy parse_precision_policy(std::string_view text, std::vector<Violation>& violations);

}  // namespace sim
