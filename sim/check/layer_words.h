// Layers in words, as expected_work says them; written by hand, from no table of those that are judged.
#pragma once

#include <string_view>

namespace sim {

// Pieces of a layer in words, for T = 1, T > 1, and sequence parallel.
// + all-reduce, > all-gather, < reduce-scatter of the hidden state (a 2 behind it: of two); max, sum: of the loss. Equal ones are numbered as they come.
struct Words {
  std::string_view single, tensor, sequence;
};
inline constexpr Words kBlockForward{"attention mlp", "attention + attention_residual mlp + mlp_residual",
                                     "attention_norm > attention < attention_residual mlp_norm > mlp < mlp_residual"};
inline constexpr Words kBlockAgain{
    "attention mlp", "attention + attention_residual mlp",
    "attention_norm > attention < attention_residual mlp_norm > mlp"};  // a norm behind the sum reads it: all of it
inline constexpr std::string_view kRoutedForward = "attention_norm > attention < attention_residual mlp",
                                  kRoutedBackward = "mlp attention_residual > attention < attention_norm";
inline constexpr Words kFeedForwardAgain{"mlp", "mlp", "> mlp"};
inline constexpr Words kBlockBackward{"mlp attention", "mlp + mlp_norm attention + attention_norm",
                                      "mlp_residual > mlp < mlp_norm attention_residual > attention < attention_norm"};
inline constexpr Words kEmbeddingForward{"embedding", "embedding + embedding_positions", "embedding < embedding_positions"};
inline constexpr Words kEmbeddingBackward{"embedding", "embedding", "embedding_positions > embedding"};
inline constexpr Words kJoiningForward{"mtp", "mtp + mtp_output", "mtp_norm >2 mtp < mtp_output"};  // with the next token's embedding
inline constexpr Words kJoiningBackward{"mtp", "mtp +2 mtp_norm", "mtp_output > mtp <2 mtp_norm"};
inline constexpr Words kHeadForward{"head", "head max head_exponentials sum head_loss",
                                    "head_norm > head max head_exponentials sum head_loss"};
inline constexpr Words kHeadBackward{"head", "head + head_norm", "head < head_norm"};
inline constexpr Words kMaps{"convolution", "", ""}, kPointwise{"pointwise", "", ""},
    kClasses{"head", "", ""};  // a layer, in each direction
inline constexpr std::string_view kBlockWeights[] = {"mlp", "attention"}, kHeadWeights[] = {"head"},
                                  kJoiningWeights[] = {"mtp"};  // of a split backward pass

}  // namespace sim
