#include "sim/cost/word_memory.h"

#include <algorithm>

namespace sim {
namespace {

constexpr double kOneOfTwo = 0.5;  // outputs of products, which `op` saves
constexpr Bytes kPair(8);          // of fp32
constexpr std::int64_t kPiece = 2048;

void add_kept(SegmentMemory& memory, const Kept& tensor) {
  if (tensor.bytes > Bytes(0)) memory.tensors.push_back(tensor);
}

// One call of mamba_inner_fn makes what is convolved, steps and the gated output again; norms with weights stand outside of it (Jamba), and all is kept.
void add_selective(SegmentMemory& memory, const SegmentSizes& size, const LinearForm& form, std::int64_t channels) {
  const std::int64_t pieces = (size.sequence + kPiece - 1) / kPiece, samples = size.tokens / std::max<std::int64_t>(1, size.sequence);
  const Bytes narrow = size.elements(form.scan_inputs());
  add_kept(memory, {"narrow steps, B and C", narrow, Module::Op, kOneOfTwo});
  add_kept(memory, {"scan's output", size.elements(channels), Module::Op});
  add_kept(memory, {"states behind pieces", kPair * (samples * pieces * channels * form.key), Module::Op});
  if (is_one_call(form)) {
    add_kept(memory, {"B and C of their own", size.elements(2 * form.key), Module::Op});
    memory.backward_temporary = size.elements(3 * channels);
  } else {
    add_kept(memory, {"convolved", size.elements(channels), Module::Op});
    add_kept(memory, {"narrow steps, B and C, normalized", narrow + size.statistic * (size.tokens * 3), Module::Op});
    add_kept(memory, {"steps", size.elements(channels), Module::Op, kOneOfTwo});
    if (size.keeps_last) add_kept(memory, {"gated output", size.elements(channels), Module::Op});
  }
  memory.weight_inputs += size.elements(channels + form.step_rank);
  memory.output_gradients += size.elements(form.scan_inputs() + channels);
}

void add_convolution(SegmentMemory& memory, const SegmentSizes& size, std::int64_t channels) {
  add_kept(memory, {"gated values", size.elements(channels), Module::Op});
  add_kept(memory, {"convolved", size.elements(channels), Module::Op});
  if (size.keeps_last) add_kept(memory, {"gated output", size.elements(channels), Module::Op});
}

}  // namespace

bool is_one_call(const LinearForm& form) { return form.rule == LinearRule::Selective && form.scan_norms != ScanNorms::Weighted; }

void add_channels(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  const LinearForm& form = *plan.model.linear;
  const std::int64_t ranks = plan.mesh.tensor, channels = form.values() / ranks, projected = form.projected() / ranks;
  memory.entering = memory.stream - (size.keeps_first ? size.normalized : Bytes{});
  if (size.keeps_first) add_kept(memory, {"normalized", size.normalized, Module::LayerNorm | Module::Op});
  add_kept(memory, {"first product", size.elements(projected), Module::Op, kOneOfTwo});
  memory.weight_inputs = size.normalized + size.elements(channels);
  memory.output_gradients = size.elements(projected + plan.model.hidden);
  form.has_scan() ? add_selective(memory, size, form, channels) : add_convolution(memory, size, channels);
  memory.backward_temporary += size.elements(channels + projected);
}

void add_norms_of_words(SegmentMemory& memory, const SegmentSizes& size, const SegmentGraph& segment, const ParallelPlan& plan) {
  for (const Operator& op : segment.operators) {
    if (op.name == "inner_norm")
      add_kept(memory,
               {"what the inner norm read", size.elements(op.inputs / plan.mesh.tensor) + size.statistic * size.tokens, Module::Op});
    if (op.scales_rows)
      add_kept(memory, {"normed rows of the head", size.element * (size.vocabulary * op.inputs) + size.statistic * size.vocabulary});
  }
}

void add_sound(SegmentMemory& memory, const ParallelPlan& plan) {
  if (!plan.model.encoder || !plan.model.encoder->hears()) return;
  const ShardShape shape = of_tokens(Tokens::Source, plan.model, plan.shard_shape());
  const std::int64_t places = shape.sequence_parallel ? shape.tokens() / shape.tensor : shape.tokens(),
                     width = 2 * plan.model.encoder->frame_width + 5 * plan.model.hidden;
  add_kept(memory, {"what convolutions over sound read", plan.bytes(Numbers::Activations) * (places * width)});
}

}  // namespace sim
