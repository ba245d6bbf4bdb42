// Layers in words, as expected_work says them; written by hand, from no table of those that are judged.
#pragma once

#include <string_view>

namespace sim {

// Pieces of a layer in words, for T = 1, T > 1, and sequence parallel.
// + all-reduce, > all-gather, < reduce-scatter of the hidden state (a 2 behind it: of two); max, sum: of the loss. Equal ones are numbered as they come.
struct Words {
  std::string_view single, tensor, sequence;
};
// A block is a mixer, a feed-forward, or one behind the other. Linear attention is said as attention, under its own name.
inline constexpr Words kMixerForward{"attention", "attention + attention_residual", "attention_norm > attention < attention_residual"};
inline constexpr Words kMixerBackward{"attention", "attention + attention_norm", "attention_residual > attention < attention_norm"};
inline constexpr Words kFeedForward{"mlp", "mlp + mlp_residual", "mlp_norm > mlp < mlp_residual"};
inline constexpr Words kFeedForwardBackward{"mlp", "mlp + mlp_norm", "mlp_residual > mlp < mlp_norm"};
// Made again, a block ends with what its backward reads.
inline constexpr Words kMixerEnd{"attention", "attention", "attention_norm > attention"};
inline constexpr Words kFeedForwardEnd{"mlp", "mlp", "mlp_norm > mlp"};
inline constexpr Words kFeedForwardAgain{"mlp", "mlp", "> mlp"};  // as a module
inline constexpr Words kEmbeddingForward{"embedding", "embedding + embedding_positions", "embedding < embedding_positions"};
inline constexpr Words kEmbeddingBackward{"embedding", "embedding", "embedding_positions > embedding"};
inline constexpr Words kJoiningForward{"mtp", "mtp + mtp_output", "mtp_norm >2 mtp < mtp_output"};  // with the next token's embedding
inline constexpr Words kJoiningBackward{"mtp", "mtp +2 mtp_norm", "mtp_output > mtp <2 mtp_norm"};
inline constexpr Words kHeadForward{"head", "head max head_exponentials sum head_loss",
                                    "head_norm > head max head_exponentials sum head_loss"};
inline constexpr Words kHeadBackward{"head", "head + head_norm", "head < head_norm"};
// Where data ranks share the statistics of batch norms: means and deviations are gathered, sums of gradients added.
inline constexpr Words kNormedMaps{"convolution gathered batch_norm", "", ""}, kNormedPointwise{"pointwise gathered batch_norm", "", ""},
    kNormedMapsBackward{"batch_norm added convolution", "", ""}, kNormedPointwiseBackward{"batch_norm added pointwise", "", ""};
inline constexpr Words kMaps{"convolution", "", ""}, kPointwise{"pointwise", "", ""},
    kClasses{"head", "", ""};  // a layer, in each direction

}  // namespace sim
