// Parameters by shape; declared in layer_work.h.
#include "sim/estimate/layer_work.h"

namespace sim {
namespace {

double attention_weights(const Network& net) {
  const double hidden = real(net.hidden), heads = real(net.heads);
  if (net.attention.kind == AttentionKind::Latent) {
    const AttentionForm& form = net.attention;
    const double key = real(form.key_width());
    const double query = form.q_lora > 0 ? hidden * real(form.q_lora) + real(form.q_lora) * heads * key : hidden * heads * key;
    return query + hidden * real(form.kv_lora + form.qk_rope) + real(form.kv_lora) * heads * real(form.qk_nope + form.v_dim) +
           heads * real(form.v_dim) * hidden;
  }
  return hidden * real(net.head_dim) * (2 * heads + 2 * real(net.kv_heads));
}

double adapter_weights(const Network& net) {
  const double rank = real(net.low_rank->rank), hidden = real(net.hidden), width = real(net.head_dim) * real(net.heads + 2 * net.kv_heads);
  const double attention = rank * (hidden * 2 + width + real(net.heads * net.head_dim));
  return net.low_rank->attention_only ? attention : attention + rank * (real(net.gated ? 3 : 2) * (hidden + real(net.ffn)));
}

double attention_flops(const Network& net) {
  const AttentionForm& form = net.attention;
  const bool latent = form.kind == AttentionKind::Latent;
  const double dims = latent ? real(form.key_width() + form.v_dim) : 2 * real(net.head_dim);
  const double length = net.effective_sequence, window = real(form.window), pair = 2 * real(net.heads) * dims;
  const double whole = pair * length * length * (net.kind == NetworkKind::Encoder ? 1 : 0.5);
  if (form.kind != AttentionKind::Sliding || window >= length) return whole;
  return whole + (pair * (length * window - window * window / 2) - whole) / real(form.every);
}

// That a token meets in a block.
double active_weights(const Network& net, BlockKind kind) {
  const double matrices = net.gated ? 3 : 2;
  const std::int64_t ffn = kind == BlockKind::Experts ? net.experts->topk * net.experts->expert_ffn + net.experts->shared_ffn : net.ffn;
  return attention_weights(net) + matrices * real(net.hidden * ffn);
}

}  // namespace

double model_flops(const Network& net) {
  double weights = real(net.vocabulary * net.hidden);
  for (std::int64_t layer = 0; layer < net.layers; ++layer) weights += active_weights(net, block_kind(net, layer));
  return 3 * (2 * weights * net.effective_sequence + real(net.layers) * attention_flops(net));
}

ParameterCount block_parameters(const RunDescription& run, BlockKind kind) {
  const Network& net = run.network;
  const double tensor = real(run.layout.tensor), matrices = net.gated ? 3 : 2;
  ParameterCount count;
  count.dense = (attention_weights(net)) / tensor + real(net.hidden) * (net.bias ? 9 : 2);
  if (kind == BlockKind::Experts) {
    count.dense += matrices * real(net.hidden * net.experts->shared_ffn) / tensor + real(net.hidden * net.experts->experts);
    count.experts =
        matrices * real(net.hidden * net.experts->expert_ffn * net.experts->experts) / run.layout.expert_cut() / real(run.layout.expert);
  } else {
    count.dense += matrices * real(net.hidden * net.ffn) / tensor;
  }
  count.trained = net.low_rank ? adapter_weights(net) / tensor : count.total();
  return count;
}

ParameterCount embedding_parameters(const RunDescription& run) {
  ParameterCount count;
  count.dense = real(run.network.vocabulary * run.network.hidden) / real(run.layout.tensor);
  count.trained = run.network.low_rank ? 0 : count.dense;
  return count;
}

}  // namespace sim
