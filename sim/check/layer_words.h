// Layers in words, as expected_work says them; written by hand, from no table of those that are judged.
#pragma once

#include <string_view>

namespace sim {

// Pieces of a layer in words, for T = 1, T > 1, and sequence parallel.
// +n all-reduce, >n all-gather, <n reduce-scatter of the hidden state with sequence number n; max, sum: of the loss.
struct Words {
  std::string_view single, tensor, sequence;
};
inline constexpr Words kBlockForward{"attention mlp", "attention +0 attention_residual mlp +1 mlp_residual",
                                     "attention_norm >0 attention <0 attention_residual mlp_norm >1 mlp <1 mlp_residual"};
inline constexpr Words kBlockAgain{
    "attention mlp", "attention +0 attention_residual mlp",
    "attention_norm >0 attention <0 attention_residual mlp_norm >1 mlp"};  // a norm behind the sum reads it: all of it
inline constexpr std::string_view kRoutedForward = "attention_norm >0 attention <0 attention_residual mlp",
                                  kRoutedBackward = "mlp attention_residual >0 attention <0 attention_norm";
inline constexpr Words kFeedForwardAgain{"mlp", "mlp", ">0 mlp"};
inline constexpr Words kBlockBackward{"mlp attention", "mlp +0 mlp_norm attention +1 attention_norm",
                                      "mlp_residual >0 mlp <0 mlp_norm attention_residual >1 attention <1 attention_norm"};
inline constexpr Words kEmbeddingForward{"embedding", "embedding +0 embedding_positions", "embedding <0 embedding_positions"};
inline constexpr Words kEmbeddingBackward{"embedding", "embedding", "embedding_positions >0 embedding"};
inline constexpr Words kHeadForward{"head", "head max head_exponentials sum head_loss",
                                    "head_norm >0 head max head_exponentials sum head_loss"};
inline constexpr Words kHeadBackward{"head", "head +0 head_norm", "head <0 head_norm"};
inline constexpr Words kMaps{"convolution", "", ""}, kPointwise{"pointwise", "", ""},
    kClasses{"head", "", ""};                                                                         // a layer, in each direction
inline constexpr std::string_view kBlockWeights[] = {"mlp", "attention"}, kHeadWeights[] = {"head"};  // of a split backward pass

}  // namespace sim
