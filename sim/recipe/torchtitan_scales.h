// Which products torchao's converters put in 8 bit: linear layers but those that filter_fqns names, and routed experts where they are named by themselves.
//
//   float8.filter_fqns = ["output", "attention.wk", "attention.wv"]    a layer with such a text in its name stays in 16 bit
//                        ["auto_filter_small_kn"]                      nor is one of few rows and columns converted (torchao, float8/float8_linear_utils.py)
//   float8.moe_fqns_prototype = ["experts"]                            later the converter quantize.grouped_mm.float8
#pragma once

#include "sim/recipe/draft.h"

namespace sim {

// Of a block; what no part of a block says is told as lost.
ProductParts unscaled_by_torchao(Draft& draft);
bool scales_head_by_torchao(const Draft& draft);  // the head is a linear layer like others: it is converted unless it is named

}  // namespace sim
