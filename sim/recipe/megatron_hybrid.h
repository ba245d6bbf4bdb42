// Networks of Megatron-LM whose layers are of several kinds: a letter for each half of a block, as pretrain_mamba.py takes them
// (megatron/core/ssm/mamba_hybrid_layer_allocation.py), and blocks of pretrain_gpt.py that are gated delta nets in place of attention
// (megatron/core/ssm/gated_delta_net.py).
//
//   M-M*ME        Mamba-2, a feed-forward, Mamba-2, attention, Mamba-2, experts; G: a gated delta net
//   M-|M*/*E      releases of 2026: stages, and what predicts a further token
#pragma once

#include <string>

#include "sim/recipe/program.h"

namespace sim {

// The letters alone: of the pattern, of the shares of attention and feed-forwards, or of a stack without either. Empty: no hybrid is said.
std::string letters_of_hybrid(const Draft& draft);

// Fills in what stands in which layer. Halves that follow each other as mixer and feed-forward all along, without Mamba-2, are whole blocks here.
void read_hybrid(const std::string& letters, Draft& draft, ModelConfig& model);
// Where the network is given beside the recipe, which names no sizes of its own.
void compare_letters(const std::string& letters, const ModelConfig& given, Draft& draft);
void read_delta(Draft& draft, const RecipeContext& context, ModelConfig& model);

bool is_hybrid(const ModelConfig& model);  // of letters
bool has_delta(const ModelConfig& model);
std::string delta_text(const ModelConfig& model);  // which blocks are gated delta nets

// What of linear layers and halves no argument says.
void refuse_hybrids(const ParallelPlan& plan, Judgement& judgement);

}  // namespace sim
