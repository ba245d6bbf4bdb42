#include "sim/plan/precision_policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "sim/units/at.h"
#include "sim/units/number_text.h"

namespace sim {
namespace {

// TF32 is how products are computed: the numbers are kept as fp32.
Precision stored(Precision precision) { return precision == Precision::Tf32 ? Precision::Fp32 : precision; }

std::string_view name_of(Precision precision) { return sim::at(kPrecisionNames, precision); }

template <class Enum, std::size_t N>
std::optional<Enum> position_named(std::string_view name, const std::string_view (&names)[N]) {
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  return found == std::end(names) ? std::nullopt : std::optional(static_cast<Enum>(found - std::begin(names)));
}

constexpr std::string_view kGathersScaled = "gathers=fp8", kGathers = "gathers=", kWire = "wire=", kEight = "fp8", kFour = "fp4",
                           kHistory = "history=", kUnscaled = "unscaled=", kBlocks = "blocks:", kProducts = "products:";
constexpr std::int32_t kMostHistory = 1024;  // as Transformer Engine keeps

std::string_view format_of(ScaleRecipe recipe) { return is_four_bit(recipe) ? kFour : kEight; }

// "fp8:delayed"; nothing: no recipe of that format.
std::optional<ScaleRecipe> recipe_in(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto recipe = position_named<ScaleRecipe>(word.substr(colon + 1), kScaleRecipeNames);
  return recipe && format_of(*recipe) == word.substr(0, colon) ? recipe : std::nullopt;
}

std::string all_recipes() {
  std::string names;
  for (std::size_t at = 0; at < std::size(kScaleRecipeNames); ++at)
    names += fmt::format("{}{}:{}", at == 0 ? "" : ", ", format_of(static_cast<ScaleRecipe>(at)), kScaleRecipeNames[at]);
  return names;
}

using Stated = std::array<std::optional<Precision>, kNumNumbers>;

// "wire=int8", "gathers=int8"; nothing: no codec of such numbers.
std::optional<WireCodec> codec_in(std::string_view word, std::string_view of, bool CodecRow::*carries) {
  if (!word.starts_with(of)) return std::nullopt;
  const auto codec = parse_wire_codec(word.substr(of.size()));
  return codec && codec_row(codec->codec).*carries ? codec : std::nullopt;
}

std::string all_codecs_of(bool CodecRow::*carries) {
  std::string names;
  for (const CodecRow& row : all_codecs())
    if (row.*carries && row.form != CodecForm::Cast)
      names += fmt::format("{}{}{}", names.empty() ? "" : ", ", row.name, row.form == CodecForm::LowRank ? ":4" : "");
  return names;
}

void read_stated(const std::string& word, Stated& stated, std::vector<Violation>& violations) {
  const std::size_t sign = word.find('=');
  const auto what = position_named<Numbers>(word.substr(0, sign), kNumbersNames);
  const auto kept = sign == std::string::npos ? std::nullopt : position_named<Precision>(word.substr(sign + 1), kPrecisionNames);
  if (!what)
    violations.push_back(
        {word, "states nothing that a precision is of",
         fmt::format("use {}, each with =bf16 or the like, or {}, {} or {}0-1,30, with =fp32", fmt::join(kNumbersNames, ", "),
                     fmt::join(kEndUnitNames, ", "), fmt::join(kWideKindNames, ", "), kBlocks)});
  else if (!kept || *kept == Precision::Tf32)
    violations.push_back({word, "is no way to keep numbers",
                          *what == Numbers::Wire
                              ? fmt::format("use fp64, fp32, bf16, fp16, or encoded {}", all_codecs_of(&CodecRow::of_gradients))
                              : std::string("use fp64, fp32, bf16 or fp16; tf32 is a way to multiply")});
  else
    sim::at(stated, *what) = kept;
}

}  // namespace

Precision PrecisionPolicy::of(Numbers what) const {
  if (const auto stated = sim::at(stated_, what)) return *stated;
  switch (what) {
    case Numbers::Activations:
    case Numbers::Weights: return compute_;
    case Numbers::Gradients: return of(Numbers::Weights);
    case Numbers::Wire: return of(Numbers::Gradients);
    case Numbers::Masters: return is_sixteen_bit(of(Numbers::Weights)) ? Precision::Fp32 : of(Numbers::Weights);
    case Numbers::Moments: return of(Numbers::Masters);
  }
  return compute_;
}

PrecisionPolicy PrecisionPolicy::with(Numbers what, Precision precision) const {
  PrecisionPolicy changed = *this;
  if (what == Numbers::Wire) changed.gradient_codec_ = {};
  std::optional<Precision>& stated = sim::at(changed.stated_, what);
  stated.reset();
  if (stored(changed.of(what)) != precision) stated = precision;
  return changed;
}

PrecisionPolicy PrecisionPolicy::as_it_follows() const {
  PrecisionPolicy usual = *this;
  usual.stated_ = {};
  usual.gradient_codec_ = usual.weight_codec_ = {};
  usual.full_ = {};
  usual.full_blocks_ = {};
  usual.wide_ = {};
  return usual;
}

PrecisionPolicy PrecisionPolicy::with_gradient_codec(WireCodec codec) const {
  PrecisionPolicy changed = *this;
  sim::at(changed.stated_, Numbers::Wire).reset();
  changed.gradient_codec_ = codec;
  return changed;
}

PrecisionPolicy PrecisionPolicy::with_weight_codec(WireCodec codec) const {
  PrecisionPolicy changed = *this;
  changed.weight_codec_ = codec;
  return changed;
}

PrecisionPolicy PrecisionPolicy::with_full(EndUnit unit) const {
  PrecisionPolicy changed = *this;
  sim::at(changed.full_, unit) = true;
  return changed;
}

PrecisionPolicy PrecisionPolicy::with_full(BlockRanges blocks) const {
  PrecisionPolicy changed = *this;
  changed.full_blocks_ = std::move(blocks);
  return changed;
}

PrecisionPolicy PrecisionPolicy::with_unscaled(BlockRanges blocks) const {
  PrecisionPolicy changed = *this;
  changed.unscaled_blocks_ = std::move(blocks);
  return changed;
}

PrecisionPolicy PrecisionPolicy::with_unscaled(ProductParts parts) const {
  PrecisionPolicy changed = *this;
  changed.unscaled_parts_ = parts;
  return changed;
}

PrecisionPolicy PrecisionPolicy::with_scaled_head() const {
  PrecisionPolicy changed = *this;
  changed.scales_head_ = true;
  return changed;
}

PrecisionPolicy PrecisionPolicy::with(WideKind kind, Precision precision) const {
  PrecisionPolicy changed = *this;
  sim::at(changed.wide_, kind) = precision;
  return changed;
}

PrecisionPolicy PrecisionPolicy::without_scales() const {
  PrecisionPolicy changed = *this;
  changed.scales_.reset();
  changed.gathers_scaled_ = false;
  changed.scales_head_ = false;
  changed.scale_history_ = 1;
  changed.unscaled_blocks_ = {};
  changed.unscaled_parts_ = {};
  return changed;
}

PrecisionPolicy PrecisionPolicy::with(ScaleRecipe scales, bool gathers_scaled) const {
  PrecisionPolicy changed = *this;
  changed.scales_ = scales;
  changed.gathers_scaled_ = gathers_scaled;
  return changed;
}

namespace {

std::string scaled_text(ScaleRecipe scales, const PrecisionPolicy& policy) {
  std::string text = fmt::format("{}:{}", format_of(scales), sim::at(kScaleRecipeNames, scales));
  if (policy.scale_history() != 1) text += fmt::format(" {}{}", kHistory, policy.scale_history());
  if (policy.compute() != Precision::Bf16) text += fmt::format(" {}{}", kUnscaled, name_of(policy.compute()));
  return text;
}

// "history=16" of delayed scales.
bool read_history(std::string_view word, std::optional<ScaleRecipe> scales, std::int32_t& steps, std::vector<Violation>& violations) {
  if (!word.starts_with(kHistory)) return false;
  const auto read = number_in<std::int32_t>(word.substr(kHistory.size()), 1, kMostHistory);
  steps = read.value_or(steps);
  if (scales != ScaleRecipe::Delayed)
    violations.push_back({std::string(word), "is of scales from steps before", "use it with fp8:delayed, or leave it out"});
  else if (!read)
    violations.push_back({std::string(word), "is no number of steps", fmt::format("use history=1 to history={}", kMostHistory)});
  return true;
}

// Units that are stated in another precision than the others.
struct UnitsApart {
  std::vector<EndUnit> ends;
  bool scales_head = false;
  BlockRanges blocks;
  std::string word;                       // of the blocks
  Precision of_blocks = Precision::Fp32;  // what their products compute in
};

std::string example_of_blocks(Precision precision) {
  return fmt::format("use one list of numbers from 0 without spaces, as in {}0-1,30={}", kBlocks, name_of(precision));
}

// "blocks:0-1,30=fp32".
bool read_blocks(std::string_view word, UnitsApart& apart, std::vector<Violation>& violations) {
  if (!word.starts_with(kBlocks)) return false;
  const std::size_t sign = std::min(word.find('='), word.size());
  const auto precision = position_named<Precision>(word.substr(std::min(sign + 1, word.size())), kPrecisionNames);
  auto blocks = parse_block_ranges(word.substr(kBlocks.size(), sign - kBlocks.size()));
  const char* problem = !apart.blocks.empty() ? "names blocks of a precision of their own once more"
                        : !blocks             ? "names no blocks by their numbers"
                        : !precision          ? "does not say what they compute in"
                                              : nullptr;
  if (problem != nullptr)
    violations.push_back({std::string(word), problem, example_of_blocks(Precision::Fp32)});
  else
    apart.blocks = std::move(*blocks), apart.word = word, apart.of_blocks = *precision;
  return true;
}

// "products:attention,experts=bf16" beside scaled products. `precision`: what it says that they compute in.
bool read_products(std::string_view word, ProductParts& parts, std::optional<Precision>& precision, std::vector<Violation>& violations) {
  if (!word.starts_with(kProducts)) return false;
  const std::size_t sign = std::min(word.find('='), word.size());
  precision = position_named<Precision>(word.substr(std::min(sign + 1, word.size())), kPrecisionNames);
  const auto named = parse_product_parts(word.substr(kProducts.size(), sign - kProducts.size()));
  const char* problem = !parts.none() ? "names products once more"
                        : !named      ? "names no products of a block"
                        : !precision  ? "does not say what they compute in"
                                      : nullptr;
  if (problem != nullptr)
    violations.push_back({std::string(word), problem,
                          fmt::format("use one list of {} without spaces, as in {}{}=bf16", fmt::join(kProductPartNames, ", "), kProducts,
                                      to_text(ProductParts().with(ProductPart::Attention).with(ProductPart::Experts)))});
  else
    parts = *named;
  return true;
}

// "head=fp32"; beside scaled products "head=fp8".
bool read_end(std::string_view word, std::optional<ScaleRecipe> scales, UnitsApart& apart, std::vector<Violation>& violations) {
  const std::size_t sign = word.find('=');
  const std::string_view name = word.substr(0, sign);
  const auto unit = position_named<EndUnit>(name, kEndUnitNames);
  if (!unit) return false;
  if (scales && unit == EndUnit::Head && word.substr(std::min(sign, word.size() - 1) + 1) == format_of(*scales))
    return apart.scales_head = true;
  if (sign == std::string_view::npos || word.substr(sign + 1) != name_of(Precision::Fp32))
    violations.push_back({std::string(word), "is no full precision of a unit", fmt::format("use {}=fp32", name)});
  else
    apart.ends.push_back(*unit);
  return true;
}

// "routers=fp64": wider than `compute`.
void read_wide(std::string_view word, PrecisionPolicy& policy, std::vector<Violation>& violations) {
  const std::size_t sign = std::min(word.find('='), word.size());
  const auto kind = position_named<WideKind>(word.substr(0, sign), kWideKindNames);
  const auto precision = position_named<Precision>(word.substr(std::min(sign + 1, word.size())), kPrecisionNames);
  const bool is_full = precision == Precision::Fp32 || precision == Precision::Fp64;
  if (!is_full || bytes_per_element(*precision) <= bytes_per_element(policy.compute()))
    violations.push_back({std::string(word), fmt::format("is no type wider than {}", name_of(policy.compute())),
                          fmt::format("use {0}=fp32 or {0}=fp64, or leave it out", word.substr(0, sign))});
  else
    policy = policy.with(*kind, *precision);
}

// Of blocks beside others in 16 bit: full precision. Beside scaled products that of what is not scaled, too.
PrecisionPolicy with_units(PrecisionPolicy policy, UnitsApart apart, std::vector<Violation>& violations) {
  for (const EndUnit unit : apart.ends) policy = policy.with_full(unit);
  if (apart.scales_head) policy = policy.with_scaled_head();
  if (policy.scales() && apart.of_blocks == policy.compute()) return policy.with_unscaled(std::move(apart.blocks));
  if (apart.of_blocks != Precision::Fp32)
    violations.push_back({apart.word, policy.scales() ? "is not what products without scales compute in" : "is no full precision of blocks",
                          example_of_blocks(policy.scales() ? policy.compute() : Precision::Fp32)});
  return policy.with_full(std::move(apart.blocks));
}

// "unscaled=fp32" beside scaled products.
bool read_unscaled(std::string_view word, bool is_scaled, Precision& compute, std::vector<Violation>& violations) {
  if (!word.starts_with(kUnscaled)) return false;
  const auto named = position_named<Precision>(word.substr(kUnscaled.size()), kPrecisionNames);
  if (!is_scaled)
    violations.push_back({std::string(word), "stands beside no scaled products", "name the precision itself, as in fp32"});
  else if (!named || *named == Precision::Tf32)
    violations.push_back({std::string(word), "is no way to keep numbers", "use fp64, fp32, bf16 or fp16"});
  else
    compute = *named;
  return true;
}

}  // namespace

PrecisionPolicy PrecisionPolicy::with_scale_history(std::int32_t steps) const {
  PrecisionPolicy changed = *this;
  changed.scale_history_ = steps;
  return changed;
}

std::string to_text(const PrecisionPolicy& policy) {
  std::string text(name_of(policy.compute()));
  if (const auto scales = policy.scales()) text = scaled_text(*scales, policy);
  if (policy.gathers_scaled()) text += fmt::format(" {}", kGathersScaled);
  if (policy.weight_codec()) text += fmt::format(" {}{}", kGathers, to_text(policy.weight_codec()));
  for (std::size_t what = 0; what < kNumNumbers; ++what) {
    if (policy.states(static_cast<Numbers>(what)))
      text += fmt::format(" {}={}", kNumbersNames[what], name_of(policy.of(static_cast<Numbers>(what))));
    if (static_cast<Numbers>(what) == Numbers::Wire && policy.gradient_codec())
      text += fmt::format(" {}{}", kWire, to_text(policy.gradient_codec()));
  }
  for (std::size_t unit = 0; unit < kNumEndUnits; ++unit)
    if (policy.is_full(static_cast<EndUnit>(unit))) text += fmt::format(" {}={}", kEndUnitNames[unit], name_of(Precision::Fp32));
  if (policy.scales_head()) text += fmt::format(" {}={}", kEndUnitNames[1], format_of(*policy.scales()));
  for (std::size_t kind = 0; kind < kNumWideKinds; ++kind)
    if (const auto precision = policy.of(static_cast<WideKind>(kind)))
      text += fmt::format(" {}={}", kWideKindNames[kind], name_of(*precision));
  const auto add_blocks = [&](const BlockRanges& blocks, Precision precision) {
    if (!blocks.empty()) text += fmt::format(" {}{}={}", kBlocks, to_text(blocks), name_of(precision));
  };
  add_blocks(policy.full_blocks(), Precision::Fp32);
  add_blocks(policy.unscaled_blocks(), policy.compute());
  if (!policy.unscaled_parts().none())
    text += fmt::format(" {}{}={}", kProducts, to_text(policy.unscaled_parts()), name_of(policy.compute()));
  return text;
}

PrecisionPolicy parse_precision_policy(std::string_view text, std::vector<Violation>& violations) {
  std::istringstream words{std::string(text)};
  std::string word;
  words >> word;
  const std::optional<ScaleRecipe> scales = recipe_in(word);
  const auto compute = scales ? std::optional(Precision::Bf16) : position_named<Precision>(word, kPrecisionNames);
  if (!compute) {
    const bool lacks_recipe = word.starts_with(kEight) || word.starts_with(kFour);
    violations.push_back(
        {word, lacks_recipe ? "does not say where its scales come from" : "is no precision of products",
         fmt::format("use one of {}",
                     lacks_recipe ? all_recipes() : fmt::format("{}, {}", fmt::join(kPrecisionNames, ", "), all_recipes()))});
  }
  Precision unscaled = compute.value_or(Precision::Fp32);
  std::int32_t history = 1;
  Stated stated;
  bool gathers_scaled = false;
  WireCodec of_gradients, of_weights;
  UnitsApart apart;
  ProductParts parts;
  std::optional<Precision> of_parts;
  std::vector<std::string> wide;
  while (words >> word)
    if (word == kGathersScaled && scales)
      gathers_scaled = true;
    else if (read_history(word, scales, history, violations) || read_unscaled(word, scales.has_value(), unscaled, violations) ||
             read_blocks(word, apart, violations) || read_products(word, parts, of_parts, violations) ||
             read_end(word, scales, apart, violations))
      continue;
    else if (position_named<WideKind>(std::string_view(word).substr(0, word.find('=')), kWideKindNames))
      wide.push_back(word);
    else if (const auto gathered = codec_in(word, kGathers, &CodecRow::of_weights))
      of_weights = *gathered;
    else if (const auto sent = codec_in(word, kWire, &CodecRow::of_gradients))
      of_gradients = *sent;
    else
      read_stated(word, stated, violations);
  PrecisionPolicy policy(unscaled);
  if (scales) policy = policy.with(*scales, gathers_scaled).with_scale_history(history);
  for (std::size_t what = 0; what < kNumNumbers; ++what)  // each follows from those before it
    if (stated[what]) policy = policy.with(static_cast<Numbers>(what), *stated[what]);
  if (of_weights) policy = policy.with_weight_codec(of_weights);
  for (const std::string& kind : wide) read_wide(kind, policy, violations);
  policy = with_units(std::move(policy), std::move(apart), violations);
  if (!parts.none() && (!scales || of_parts != unscaled))
    violations.push_back(
        {fmt::format("{}{}", kProducts, to_text(parts)),
         scales ? "do not compute in what products without scales do" : "stand beside no scaled products",
         scales ? fmt::format("use ={}", name_of(unscaled)) : std::string("leave them out, or use fp8:delayed or the like")});
  policy = policy.with_unscaled(parts);
  if (policy.has_full_units() && !is_sixteen_bit(unscaled))
    violations.push_back({std::string(text), "states full precision beside units that are no narrower",
                          fmt::format("leave {} and {} out, or use bf16 or fp16", fmt::join(kEndUnitNames, ", "), kBlocks)});
  return of_gradients ? policy.with_gradient_codec(of_gradients) : policy;
}

}  // namespace sim
