#include "sim/estimate/saved_activations.h"

#include <algorithm>

#include "sim/clock/expert_load.h"

namespace sim {
namespace {

double mlp_inner(const Network& net, BlockKind kind, double load) {
  if (kind == BlockKind::Dense) return real(net.ffn);
  return real(net.experts->topk * net.experts->expert_ffn) * load + real(net.experts->shared_ffn);
}

double load_of(const RunDescription& run, const Setting& setting, BlockKind kind) {
  return kind == BlockKind::Experts ? expert_load(*run.network.experts, run.layout.expert, setting.device.behavior).computed : 1;
}

struct Widths {
  double stream, heads, queries_keys_values, keys_values, inner;  // keys_values: as attention reads them
};                                                                // elements a token on this rank

Widths widths(const RunDescription& run, const Setting& setting, BlockKind kind) {
  const Network& net = run.network;
  const double tensor = real(run.layout.tensor);
  const bool latent = net.attention.kind == AttentionKind::Latent;
  const double query = real(net.heads) * real(latent ? net.attention.key_width() : net.head_dim);
  const double value = real(net.heads) * real(latent ? net.attention.v_dim : net.head_dim);
  const double qkv = latent ? 2 * query + value : query + 2 * real(net.kv_heads) * real(net.head_dim);
  const double keys_values = latent || setting.stack.repeats_keys ? query + value : qkv - query;
  return {real(net.hidden) / (run.layout.sequence_parallel ? tensor : 1), value / tensor, qkv / tensor, keys_values / tensor,
          mlp_inner(net, kind, load_of(run, setting, kind)) / tensor};
}

// Rows that experts read, and those they give back where their weights come afterwards. Whole experts on tensor ranks: each routes its part.
double routed_elements(const RunDescription& run, const Setting& setting) {
  const double copies = real(run.network.hidden * run.network.experts->topk) * load_of(run, setting, BlockKind::Experts);
  const double routing_ranks = run.layout.expert_tensor ? 1 : real(run.layout.tensor);
  return copies * (setting.stack.weights_activation ? 1 : 2) / routing_ranks;
}

// Elements a token that a block without recomputation keeps.
double block_elements(const RunDescription& run, const Setting& setting, BlockKind kind) {
  const SoftwareStack& stack = setting.stack;
  const Network& net = run.network;
  const Widths w = widths(run, setting, kind);
  const bool norm_fused = run.execution.fused_norm || run.execution.compiled;
  const bool mlp_fused = stack.fused_activation || run.execution.compiled;
  const double inputs = 2 * w.stream * (norm_fused ? 1 : net.rms_norm ? 3 : 1);  // of norms
  const double frozen = net.low_rank && net.low_rank->attention_only ? 1 : 0;    // products of the feed-forward: they keep no input
  const double outputs = (2 - frozen) * (stack.keeps_gathered ? real(net.hidden) : w.stream);  // of norms, for products
  const double inner = (net.gated ? (mlp_fused ? 3 : 4) : 2) - frozen;
  const double masks = stack.dropout ? w.stream : 0;
  const double routed = kind == BlockKind::Experts ? routed_elements(run, setting) : 0;
  const bool latent = net.attention.kind == AttentionKind::Latent, repeated = stack.repeats_keys && !latent &&
                                                                              net.kv_heads<net.heads, sent = run.layout.context> 1 &&
                                                                              run.layout.context_all_to_all;
  return inputs + outputs + w.queries_keys_values + w.heads * (sent ? 2 : 1) + inner * w.inner + masks + routed +
         (repeated ? w.keys_values : 0) + (net.rotary && stack.keeps_unrotated ? w.queries_keys_values * 0.5 : 0);
}

struct ScoreBytes {
  double kept = 0, gradients = 0;  // gradients: of what the softmax put out and of what it read
};
ScoreBytes score_bytes(const RunDescription& run, const SoftwareStack& stack, double element) {
  if (run.execution.attention >= AttentionKernel::Flash1) return {};
  const double scores = real(run.layout.micro_batch * run.network.heads) / real(run.layout.tensor) * run.network.effective_sequence *
                        run.network.effective_sequence / real(run.layout.context);
  const bool unfused = run.execution.attention == AttentionKernel::Unfused;  // in fp32 around the softmax; a fused one overwrites
  return {scores * ((unfused ? 4 : 1) * element + (stack.dropout ? element + 1 : 0)), scores * (unfused ? 2 * 4 : element)};
}

// In the feed-forward: the residual stream, its norm (of all tokens of the tensor group, unless that is gathered in pieces), and the inner widths.
double forward_elements(const RunDescription& run, const SoftwareStack& stack, const Widths& w) {
  const bool fused = stack.fused_activation || run.execution.compiled, in_pieces = run.layout.async_tensor || run.execution.overlap_tensor;
  return w.stream + (in_pieces ? w.stream : real(run.network.hidden)) + w.inner * (run.network.gated ? (fused ? 3 : 4) : 2);
}

// Elements a token in the feed-forward: the output's gradient (of all tokens of the tensor group), and those of the inner widths. It frees
// what it kept before attention begins.
double gradient_elements(const Network& net, const Widths& w) { return real(net.hidden) + w.inner * (net.gated ? 2 : 1); }
double gradient_bytes(const Network& net, const Widths& w, double token, double scores) {
  return std::max(token * gradient_elements(net, w), scores - token * w.inner * (net.gated ? 3 : 2));
}

// Elements a token: blocks of keys and values that come in, and of their gradients; see cost/activation_memory.cpp.
double exchanged_elements(const Layout& layout, const SoftwareStack& stack, const Widths& w) {
  if (layout.context == 1 || layout.context_all_to_all) return 0;
  const double ranks = real(layout.context), two = 2;
  if (!layout.context_ring) return w.keys_values * 2 * ranks;
  return w.keys_values * (two + (stack.gathers_context ? ranks : std::min(two, ranks - 1)));
}

double logit_bytes(const RunDescription& run, const SoftwareStack& stack) {
  const bool fused = run.execution.fused_loss || stack.fused_loss || (run.execution.compiled && stack.compiled_loss);
  if (fused) return stack.fused_loss_bytes;
  if (run.layout.tensor == 1) return stack.loss_bytes;
  return stack.vocabulary_parallel ? stack.cut_loss_bytes : 26;  // gathered: copies of both dtypes
}

}  // namespace

SavedActivations saved_activations(const RunDescription& run, const Setting& setting, BlockKind kind) {
  const SoftwareStack& stack = setting.stack;
  const double element = run.execution.format == NumberFormat::Fp32 || run.execution.format == NumberFormat::Tf32 ? 4 : 2;
  const double tokens = run.tokens();
  const ScoreBytes scores = score_bytes(run, stack, element);
  const Widths w = widths(run, setting, kind);
  SavedActivations saved;
  saved.whole = tokens * element * block_elements(run, setting, kind) + scores.kept;
  const double input = tokens * element * real(run.network.hidden) / (run.layout.sequence_parallel ? real(run.layout.tensor) : 1);
  switch (run.execution.recompute) {
    case RecomputeKind::None: saved.kept = saved.whole; break;
    case RecomputeKind::AttentionCore: saved.kept = saved.whole - scores.kept; break;
    case RecomputeKind::SaveProjections: saved.kept = input + tokens * element * (w.stream + w.queries_keys_values + w.heads); break;
    case RecomputeKind::CheapOperators:
      saved.kept = input + tokens * element *  // a compiler drops what no gradient needs: the output of the last product
                               ((run.execution.compiled ? 0 : w.stream) + w.heads + w.inner * (run.network.gated ? 1 : 0.5) +
                                (w.queries_keys_values + w.heads) / 2);
      break;
    case RecomputeKind::EverySecondLayer: saved.kept = (saved.whole + input) / 2; break;
    case RecomputeKind::Full: saved.kept = input; break;
  }
  const double seen = tokens_with_loss(run, stack), parts = stack.vocabulary_parallel ? real(run.layout.tensor) : 1;
  const double others = stack.held_messages > 0 && run.layout.pipeline > 1 ? element * real(run.layout.microbatches - 1) : 0;
  saved.logits = tokens * seen * real(run.network.vocabulary) / parts * (logit_bytes(run, stack) + others);
  saved.passing = std::min(tokens * element * forward_elements(run, stack, w), saved.whole - saved.kept);
  saved.gradients = gradient_bytes(run.network, w, tokens * element, scores.gradients);
  saved.exchanged = tokens * element * exchanged_elements(run.layout, stack, w);
  saved.embedding = tokens * element * real(run.network.hidden);
  return saved;
}

}  // namespace sim
