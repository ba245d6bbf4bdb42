// Parts of a block whose products may stay in 16 bit beside others in 8 or 4 bit, in every block: what policies of precision except by kind.
//
//   attention   products in front of attention or a scan, and behind it
//   keys        of these keys and values alone, in a joint product its columns
//   mlp         a feed-forward that every token goes through: shared experts, too
//   experts     routed ones
//
// torchtitan's converters name what they leave out, filter_fqns, and take experts where they are named alone; NVIDIA's recipes in 4 bit leave attention's
// products of hybrid networks in 16 bit. Routers and adapters always are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sim {

enum class ProductPart : std::uint8_t { Attention, Keys, Mlp, Experts };
inline constexpr std::string_view kProductPartNames[] = {"attention", "keys", "mlp", "experts"};

class ProductParts {
 public:
  bool none() const { return bits_ == 0; }
  bool names(ProductPart part) const { return (bits_ >> static_cast<std::uint32_t>(part) & 1) != 0; }
  bool has(ProductPart part) const { return names(part) || (part == ProductPart::Keys && names(ProductPart::Attention)); }
  ProductParts with(ProductPart part) const;  // keys are of attention: they add nothing to it
  bool operator==(const ProductParts&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

std::string to_text(ProductParts parts);                                 // "attention,experts"
std::optional<ProductParts> parse_product_parts(std::string_view text);  // nothing: none, or what is no part

struct ModelGraph;
void leave_unscaled(ModelGraph& model,
                    ProductParts parts);  // marks operators of blocks, those that predict further tokens among them, and weights
void scale_head(ModelGraph& model);       // its product, too

}  // namespace sim
