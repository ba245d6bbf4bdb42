// Parts of blocks whose kernels a graph of layers holds, in every block; none named: all that such a graph can hold.
//
//   attn        attention or a scan, with the norm in front of it
//   mlp         a feed-forward that every token goes through
//   moe_router  of a layer of experts its norm, router and what orders the choices; the experts themselves never are
//
// Names are Megatron-Core's (transformer/enums.py, CudaGraphScope).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/model/operation.h"

namespace sim {

enum class GraphPart : std::uint8_t { Attention, Mlp, Router };
inline constexpr std::string_view kGraphPartNames[] = {"attn", "mlp", "moe_router"};

class GraphScope {
 public:
  bool is_all() const { return bits_ == 0; }
  bool names(GraphPart part) const { return (bits_ >> static_cast<std::uint32_t>(part) & 1) != 0; }
  bool holds(Operation segment) const;  // by its name
  GraphScope with(GraphPart part) const;
  bool operator==(const GraphScope&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

std::optional<GraphPart> graph_part(
    std::string_view name);             // its own, or another of Megatron-Core's that is within it: mamba, moe_preprocess, moe
std::string to_text(GraphScope scope);  // "attn,mlp"; empty: all
std::optional<GraphScope> parse_graph_scope(std::string_view text);  // nothing: a name that is none

}  // namespace sim
