#include "sim/cost/sparse_memory.h"

#include <algorithm>

namespace sim {

// Queries meet the latent vector itself: they are kept before what leads up to keys is multiplied into them and behind it, and the output before and behind
// what leads up to values. Every tensor rank has all of the indexer.
void add_sparse_attention(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  const AttentionForm& form = plan.model.attention;
  const Indexer& indexer = form.indexer;
  const std::int64_t narrow = form.q_lora + form.kv_lora, wide = size.heads * form.shared_key(), output = size.heads * form.kv_lora,
                     operands = size.query + wide + form.shared_key();
  memory.keep({"narrow vectors", size.elements(narrow), Module::Op, kEverySecond});
  memory.keep(
      {"narrow vectors, normalized", size.elements(narrow) + size.statistic * (size.tokens * 2), Module::MlaUpProjection | Module::Op});
  memory.keep({"queries, and the keys that they meet", size.elements(operands), Module::MlaUpProjection | Module::Op, kEverySecond});
  memory.keep({"what the indexer reads", size.elements(indexer.made() + indexer.width), Module::CoreAttention});
  memory.keep({"chosen tokens", Bytes(4) * (size.tokens * std::min(size.sequence, indexer.topk)), Module::CoreAttention});
  memory.keep({"sums of exponentials", size.statistic * (size.tokens * size.heads), Module::CoreAttention});
  memory.keep({"attention's output", size.elements(output + size.output)});
  memory.backward_temporary = size.elements(output + wide + indexer.made()) + Bytes(4) * (size.tokens * form.shared_key());
  memory.weight_inputs = size.normalized + size.elements(size.output + output + size.query + narrow);
  memory.output_gradients = size.elements(narrow + form.qk_rope + size.query + wide + output + indexer.made() + plan.model.hidden);
}

}  // namespace sim
