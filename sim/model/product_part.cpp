#include "sim/model/product_part.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

#include "sim/model/model_graph.h"

namespace sim {
namespace {

// What latent attention makes keys and values of, and a decoder of what its encoder puts out.
constexpr std::string_view kOfKeys[] = {"kv_down", "kv_up", "keys"};

bool is_of_keys(std::string_view name) { return std::ranges::find(kOfKeys, name) != std::end(kOfKeys); }

ProductPart part_of(const SegmentGraph& segment, const Operator& op) {
  if (op.experts > 0) return ProductPart::Experts;
  const bool mixes = segment.name == Operation::Attention || segment.name == Operation::LinearAttention;
  return !mixes ? ProductPart::Mlp : is_of_keys(op.name) ? ProductPart::Keys : ProductPart::Attention;
}

// By its name in the model: "layers.3.attention.qkv.weight".
ProductPart part_of(const Parameter& parameter) {
  const auto is_within = [&](std::string_view name) { return parameter.name.find(fmt::format(".{}.", name)) != std::string::npos; };
  if (parameter.expert) return ProductPart::Experts;
  if (is_within("mlp")) return ProductPart::Mlp;
  return std::ranges::any_of(kOfKeys, is_within) ? ProductPart::Keys : ProductPart::Attention;
}

std::int64_t columns_of_keys(const Heads& heads) {
  return heads.made_before ? 0 : heads.keys * (heads.key_width + (heads.one_product ? 0 : heads.value_width));
}

void leave_unscaled(Layer& layer, ProductParts parts) {
  for (Parameter& parameter : layer.parameters) parameter.unscaled = parts.has(part_of(parameter));
  for (SegmentGraph& segment : layer.segments)
    for (Operator& op : segment.operators) {
      if (op.kind != OperatorKind::Linear || op.unscaled) continue;
      op.unscaled = parts.has(part_of(segment, op));
      if (!op.unscaled && parts.has(ProductPart::Keys) && op.name == "qkv") op.unscaled_outputs = columns_of_keys(op.heads);
    }
}

}  // namespace

ProductParts ProductParts::with(ProductPart part) const {
  const auto bit = [](ProductPart one) { return 1U << static_cast<std::uint32_t>(one); };
  ProductParts all = *this;
  all.bits_ |= bit(part);
  if (all.names(ProductPart::Attention)) all.bits_ &= ~bit(ProductPart::Keys);
  return all;
}

std::string to_text(ProductParts parts) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < std::size(kProductPartNames); ++at)
    if (parts.names(static_cast<ProductPart>(at))) names.push_back(kProductPartNames[at]);
  return fmt::format("{}", fmt::join(names, ","));
}

std::optional<ProductParts> parse_product_parts(std::string_view text) {
  std::istringstream names{std::string(text)};
  ProductParts parts;
  for (std::string name; std::getline(names, name, ',');) {
    const auto* const found = std::ranges::find(kProductPartNames, name);
    if (found == std::end(kProductPartNames)) return std::nullopt;
    parts = parts.with(static_cast<ProductPart>(found - std::begin(kProductPartNames)));
  }
  return parts.none() ? std::nullopt : std::optional(parts);
}

void leave_unscaled(ModelGraph& model, ProductParts parts) {
  if (parts.none()) return;
  for (LayerIndex layer(1); layer <= model.head(); ++layer) leave_unscaled(model.layers[layer.position()], parts);
}

void scale_head(ModelGraph& model) {
  for (SegmentGraph& segment : model.layers[model.head().position()].segments)
    for (Operator& op : segment.operators)
      if (op.name == "projection") op.unscaled = false;
}

}  // namespace sim
