// Names of what runs: one registry, so that a key reads without a model, and old texts stay readable. Parts of layers stand first; a new sort of
// layer adds its own rows.
#pragma once

#include <cstdint>
#include <string_view>

namespace sim {

// Compute operations first, then communication.
enum class Operation : std::uint8_t {
  Embedding,
  EmbeddingPositions,  // a segment up to its sum over T; what follows the sum
  Attention,
  AttentionResidual,
  Mlp,
  MlpResidual,
  AttentionInput,
  AttentionHeads,
  AttentionScores,
  AttentionOutput,  // Attention where ranks meet inside: up to q, k, v; whole heads of them; the kernel; behind it
  ExpertInput,
  Experts,
  ExpertOutput,  // Mlp of experts: router and tokens to them; the products; tokens back
  Head,
  HeadExponentials,
  HeadLoss,  // logits and their local maximum; local sums; the loss
  HeadNorm,
  AttentionNorm,
  MlpNorm,  // backward of the norm in front of a segment, after its sum over T
  Convolution,
  Pointwise,  // a layer of maps: with a convolution, or of norms, activations, sums and pools alone
  BatchNorm,  // what of it follows the statistics of all data ranks, where they share them
  Mtp,
  MtpNorm,
  MtpOutput,  // in front of a block that predicts a further token: its norms, the product that joins them, behind its sum over T
  LinearAttention,
  LinearAttentionResidual,
  LinearAttentionNorm,  // as Attention's
  LinearAttentionInput,
  LinearAttentionScan,
  LinearAttentionOutput,  // where context ranks meet inside: the first product; what goes from token to token; the last product
  Accumulate,
  NormPart,
  Update,  // add to the accumulated gradient; squared norm; optimizer
  HostUpdate,
  CopyToHost,
  CopyToDevice,  // optimizer on the host; gradients go down to it, new weights come up
  Reshard,       // ZeRO-3: free the gathered weights of `bucket`; takes no time
  Encode,
  Reencode,
  Decode,  // of a codec (sim/plan/wire_codec.h): around what it sends, and between two exchanges
  AllReduce,
  ReduceScatter,
  AllGather,
  Send,
  Receive,
  AllToAll,
  RingHop,
  Broadcast  // of an owner's stepped weights
};
inline constexpr std::string_view kOperationNames[] = {"embedding",
                                                       "embedding_positions",
                                                       "attention",
                                                       "attention_residual",
                                                       "mlp",
                                                       "mlp_residual",
                                                       "attention_input",
                                                       "attention_heads",
                                                       "attention_scores",
                                                       "attention_output",
                                                       "expert_input",
                                                       "experts",
                                                       "expert_output",
                                                       "head",
                                                       "head_exponentials",
                                                       "head_loss",
                                                       "head_norm",
                                                       "attention_norm",
                                                       "mlp_norm",
                                                       "convolution",
                                                       "pointwise",
                                                       "batch_norm",
                                                       "mtp",
                                                       "mtp_norm",
                                                       "mtp_output",
                                                       "linear_attention",
                                                       "linear_attention_residual",
                                                       "linear_attention_norm",
                                                       "linear_attention_input",
                                                       "linear_attention_scan",
                                                       "linear_attention_output",
                                                       "accumulate",
                                                       "norm_part",
                                                       "update",
                                                       "host_update",
                                                       "copy_to_host",
                                                       "copy_to_device",
                                                       "reshard",
                                                       "encode",
                                                       "reencode",
                                                       "decode",
                                                       "all_reduce",
                                                       "reduce_scatter",
                                                       "all_gather",
                                                       "send",
                                                       "receive",
                                                       "all_to_all",
                                                       "ring_hop",
                                                       "broadcast"};
constexpr bool is_communication(Operation operation) { return operation >= Operation::AllReduce; }
constexpr bool is_coding(Operation operation) { return operation >= Operation::Encode && operation <= Operation::Decode; }
constexpr bool is_host_copy(Operation operation) { return operation == Operation::CopyToHost || operation == Operation::CopyToDevice; }
// To other ranks or the host, and what is encoded for that.
constexpr bool moves_data(Operation operation) { return is_communication(operation) || is_host_copy(operation) || is_coding(operation); }

}  // namespace sim
