#include "sim/cost/scan_memory.h"

#include <algorithm>

namespace sim {
namespace {

constexpr Bytes kPair(8);  // of fp32
constexpr std::int64_t kPiece = 2048;

// One call of mamba_inner_fn makes what is convolved, steps and the gated output again; norms with weights stand outside of it (Jamba), and all is kept.
void add_selective(SegmentMemory& memory, const SegmentSizes& size, const LinearForm& form, std::int64_t channels) {
  const std::int64_t pieces = (size.sequence + kPiece - 1) / kPiece, samples = size.tokens / std::max<std::int64_t>(1, size.sequence);
  const Bytes narrow = size.elements(form.scan_inputs());
  memory.keep({"narrow steps, B and C", narrow, Module::Op, kEverySecond});
  memory.keep({"scan's output", size.elements(channels), Module::Op});
  memory.keep({"states behind pieces", kPair * (samples * pieces * channels * form.key), Module::Op});
  if (is_one_call(form)) {
    memory.keep({"B and C of their own", size.elements(2 * form.key), Module::Op});
    memory.backward_temporary = size.elements(3 * channels);
  } else {
    memory.keep({"convolved", size.elements(channels), Module::Op});
    memory.keep({"narrow steps, B and C, normalized", narrow + size.statistic * (size.tokens * 3), Module::Op});
    memory.keep({"steps", size.elements(channels), Module::Op, kEverySecond});
    if (size.keeps_last) memory.keep({"gated output", size.elements(channels), Module::Op});
  }
  memory.weight_inputs += size.elements(channels + form.step_rank);
  memory.output_gradients += size.elements(form.scan_inputs() + channels);
}

void add_convolution(SegmentMemory& memory, const SegmentSizes& size, std::int64_t channels) {
  memory.keep({"gated values", size.elements(channels), Module::Op});
  memory.keep({"convolved", size.elements(channels), Module::Op});
  if (size.keeps_last) memory.keep({"gated output", size.elements(channels), Module::Op});
}

void add_channels(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  const LinearForm& form = *plan.model.linear;
  const std::int64_t ranks = plan.mesh.tensor, channels = form.values() / ranks, projected = form.projected() / ranks;
  memory.keep_normalized(size.normalized, size.keeps_first);
  memory.keep({"first product", size.elements(projected), Module::Op, kEverySecond});
  memory.weight_inputs = size.normalized + size.elements(channels);
  memory.output_gradients = size.elements(projected + plan.model.hidden);
  form.has_scan() ? add_selective(memory, size, form, channels) : add_convolution(memory, size, channels);
  memory.backward_temporary += size.elements(channels + projected);
}

// Columns of queries and keys: of groups that several context ranks have heads of, a copy each.
std::int64_t shared_columns(const LinearForm& form, const DeviceMesh& mesh) {
  return 2 * form.key * std::max<std::int64_t>(form.groups / mesh.tensor, mesh.context);
}

// Context ranks: what was projected, and then what comes out, is kept as it has been exchanged. Backward: the gradient of what came out, until that of what
// was projected is made; beside them that of the scan's output with the states, then that of what was convolved.
void add_dealt_heads(SegmentMemory& memory, const SegmentSizes& size, std::int64_t values, std::int64_t states, std::int64_t projected) {
  memory.output_gradient = size.elements(values);
  memory.input_gradients = size.elements(projected);
  memory.middle_temporary = size.elements(std::max(values + states, projected - values));
}

void add_heads(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  const LinearForm& form = *plan.model.linear;
  const std::int64_t ranks = plan.mesh.tensor, heads = form.heads / ranks, values = form.values() / ranks,
                     shared = shared_columns(form, plan.mesh), convolved = values + shared,
                     projected = form.projected() / ranks - 2 * form.keys() / ranks + shared;
  const bool is_delta = form.is_delta();
  const std::int64_t narrow = form.narrow() > 0 ? 2 * form.narrow() + (form.keys() + form.values()) / ranks : 0;
  const std::int64_t chunk = std::min(form.chunk, size.sequence), states = heads * form.key * form.value / chunk;
  memory.keep_normalized(size.normalized, size.keeps_first);
  memory.keep({"first product", size.elements(projected), Module::Op, kEverySecond});
  if (narrow > 0) memory.keep({"decays and gate", size.elements(narrow), Module::Op, kEverySecond});
  memory.keep({"convolved", size.elements(convolved), Module::Op});
  if (is_delta) memory.keep({"queries and keys of all heads", size.elements(2 * heads * form.key), Module::Op});
  if (is_delta) memory.keep({"inverses", size.elements(heads * chunk), Module::Op});
  memory.keep({"scan's output", size.elements(values), Module::Op});
  if (size.keeps_last) memory.keep({"gated output", size.elements(values), Module::Op});
  memory.backward_temporary = size.elements(2 * values + convolved + states);
  memory.weight_inputs = size.normalized + size.elements(values);
  memory.output_gradients = size.elements(form.projected() / ranks + plan.model.hidden);
  if (plan.mesh.context > 1) add_dealt_heads(memory, size, values, states, projected + narrow);
}

}  // namespace

bool is_one_call(const LinearForm& form) { return form.rule == LinearRule::Selective && form.scan_norms != ScanNorms::Weighted; }

void add_scan(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  plan.model.linear->is_of_channels() ? add_channels(memory, size, plan) : add_heads(memory, size, plan);
}

}  // namespace sim
