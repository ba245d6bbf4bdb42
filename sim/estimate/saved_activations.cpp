#include "sim/estimate/saved_activations.h"

#include <algorithm>

#include "sim/estimate/expert_load.h"

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
  double stream, heads, queries_keys_values, inner;
};  // elements a token on this rank

Widths widths(const RunDescription& run, const Setting& setting, BlockKind kind) {
  const Network& net = run.network;
  const double tensor = real(run.layout.tensor);
  const bool latent = net.attention.kind == AttentionKind::Latent;
  const double query = real(net.heads) * real(latent ? net.attention.qk_nope + net.attention.qk_rope : net.head_dim);
  const double value = real(net.heads) * real(latent ? net.attention.v_dim : net.head_dim);
  const double qkv = latent ? 2 * query + value : query + 2 * real(net.kv_heads) * real(net.head_dim);
  return {real(net.hidden) / (run.layout.sequence_parallel ? tensor : 1), value / tensor, qkv / tensor,
          mlp_inner(net, kind, load_of(run, setting, kind)) / tensor};
}

// Elements a token that a block without recomputation keeps.
double block_elements(const RunDescription& run, const Setting& setting, BlockKind kind) {
  const SoftwareStack& stack = setting.stack;
  const Network& net = run.network;
  const Widths w = widths(run, setting, kind);
  const bool norm_fused = run.execution.fused_norm || run.execution.compiled;
  const bool mlp_fused = stack.fused_activation || run.execution.compiled;
  const double inputs = 2 * w.stream * (norm_fused ? 1 : net.rms_norm ? 3 : 1);            // of norms
  const double outputs = 2 * (stack.keeps_gathered ? real(net.hidden) : w.stream);  // of norms, for products
  const double inner = net.gated ? (mlp_fused ? 3 : 4) : 2;
  const double masks = stack.dropout ? w.stream : 0;
  const double routed = kind == BlockKind::Experts ? real(net.hidden * net.experts->topk) * 2 * load_of(run, setting, kind) : 0;
  return inputs + outputs + w.queries_keys_values + w.heads + inner * w.inner + masks + routed +
         (net.rotary && !stack.fused_rotary ? w.queries_keys_values * 0.5 : 0);
}

double score_bytes(const RunDescription& run, const SoftwareStack& stack, double element) {
  if (run.execution.attention >= AttentionKernel::Flash1) return 0;
  const double scores = real(run.layout.micro_batch * run.network.heads) / real(run.layout.tensor) * run.network.effective_sequence *
                        run.network.effective_sequence / real(run.layout.context);
  const double copies = run.execution.attention == AttentionKernel::Unfused ? 4 : 1;  // in fp32 around the softmax
  return scores * (copies * element + (stack.dropout ? element + 1 : 0));
}

// In the feed-forward: the residual stream, its norm (of all tokens of the tensor group, unless that is gathered in pieces), and the inner widths.
double forward_elements(const RunDescription& run, const SoftwareStack& stack, const Widths& w) {
  const bool fused = stack.fused_activation || run.execution.compiled, in_pieces = run.layout.async_tensor || run.execution.overlap_tensor;
  return w.stream + (in_pieces ? w.stream : real(run.network.hidden)) + w.inner * (run.network.gated ? (fused ? 3 : 4) : 2);
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
  const double tokens = run.tokens(), scores = score_bytes(run, stack, element);
  const Widths w = widths(run, setting, kind);
  SavedActivations saved;
  saved.whole = tokens * element * block_elements(run, setting, kind) + scores;
  const double input = tokens * element * real(run.network.hidden) / (run.layout.sequence_parallel ? real(run.layout.tensor) : 1);
  switch (run.execution.recompute) {
    case RecomputeKind::None: saved.kept = saved.whole; break;
    case RecomputeKind::AttentionCore: saved.kept = saved.whole - scores; break;
    case RecomputeKind::SaveProjections: saved.kept = input + tokens * element * (w.stream + w.queries_keys_values + w.heads); break;
    case RecomputeKind::CheapOperators:
      saved.kept = input + tokens * element *
                               (w.stream + w.heads + w.inner * (run.network.gated ? 1 : 0.5) + (w.queries_keys_values + w.heads) / 2);
      break;
    case RecomputeKind::EverySecondLayer: saved.kept = (saved.whole + input) / 2; break;
    case RecomputeKind::Full: saved.kept = input; break;
  }
  const double seen = tokens_with_loss(run, stack), parts = stack.vocabulary_parallel ? real(run.layout.tensor) : 1;
  const double others = stack.keeps_outputs && run.layout.pipeline > 1 ? element * real(run.layout.microbatches - 1) : 0;
  saved.logits = tokens * seen * real(run.network.vocabulary) / parts * (logit_bytes(run, stack) + others);
  saved.passing = std::min(tokens * element * forward_elements(run, stack, w), saved.whole - saved.kept);
  saved.embedding = tokens * element * real(run.network.hidden);
  return saved;
}

}  // namespace sim
