#include "sim/cost/feed_forward_memory.h"

#include <cmath>

#include "sim/clock/expert_load.h"

namespace sim {
namespace {

// Of gate and up one is a second product.
double gated_share(const ModelConfig& config) { return config.gated_mlp ? kEverySecond : 0; }

// A relu's backward reads what it put out, which the last product keeps in any case.
bool keeps_before_activation(const ModelConfig& config) { return config.gated_mlp || config.activation != Activation::Relu; }

// By operators, a program that runs them one by one holds every second product's output, though no backward reads the last one's (of q, k, v, o,
// gate, up and down: the seventh). A compiled block keeps what its backward reads.
bool holds_last_product(const ModelConfig& config, const ParallelPlan& plan) {
  return plan.recomputed_modules().has(Module::Op) && config.gated_mlp && !habits_of(plan.cluster).compiled;
}

Bytes bytes_of_routers(const ParallelPlan& plan) {
  return bytes_per_element(plan.workload.precision.of(WideKind::Routers).value_or(Precision::Fp32));
}

// What a router reads, cast: forward alone, unless the product reads it as it is; backward beside its gradient.
void cast_for_router(SegmentMemory& memory, std::int64_t numbers, const ParallelPlan& plan) {
  const auto wide = plan.workload.precision.of(WideKind::Routers);
  if (!wide) return;
  const Bytes cast = bytes_per_element(*wide) * numbers;
  const bool reads_narrow = plan.cluster.software.mixed_products && *wide == Precision::Fp32;
  if (!reads_narrow) memory.forward_temporary = std::max(memory.forward_temporary, cast);
  memory.backward_temporary = std::max(memory.backward_temporary, cast * std::int64_t{2});
}

}  // namespace

void add_experts(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  const ModelConfig& config = plan.model;
  const ExpertForm& form = *config.experts;
  const bool apart = plan.mesh.cuts_experts_apart();  // then each tensor rank routes its part of the tokens
  const std::int64_t routed = apart ? size.local_tokens : size.tokens, computed = apart ? routed * plan.mesh.expert_cut() : routed;
  const std::int64_t gates = config.gated_mlp ? 2 : 1, width = form.expert_ffn / plan.mesh.expert_cut(),
                     shared = form.shared_ffn / plan.mesh.tensor;
  const double load = expert_load(form, plan.workload.expert_loads, plan.mesh.expert, common_behavior());
  const auto rows = [&](std::int64_t each) {
    return size.element * static_cast<std::int64_t>(std::ceil(real(computed * form.topk) * load)) * each;
  };
  const Bytes score = std::max(size.statistic, bytes_of_routers(plan));
  const Bytes choices = (Bytes(std::int64_t{4} * 8) + score) * (routed * form.topk);
  const SoftwareStack& habits = habits_of(plan.cluster);
  const std::int64_t ways = habits.weights_activation ? 1 : 2;  // out, and back
  const bool weights_apart = habits.weights_activation && !(habits.fused_activation && config.gated_mlp);
  const Modules copies =
      plan.sends_tokens() ? Modules() : Modules(Module::Op);  // by operators what crossed links is kept, and nothing else of experts
  memory.keep_normalized(size.normalized, size.keeps_first);
  memory.keep({"router's scores and choices", score * (routed * form.experts) + choices});
  if (size.keeps_first)
    memory.keep(
        {.tensor = "rows of experts", .bytes = size.read(rows(config.hidden)), .modules = copies, .saved_by = Module::ExpertProduct});
  memory.keep({.tensor = "first products of experts",
               .bytes = rows(gates * width),
               .modules = Module::Op,
               .inside = plan.expert_overlap,
               .saved_by = Module::MoeActivation});
  if (size.keeps_last)
    memory.keep({"activations of experts", size.read(rows(width)), Module::MoeActivation | Module::Op, 1, plan.expert_overlap});
  if (weights_apart)  // the product reads them for its weights' gradient
    memory.keep({.tensor = "activations before their weights",
                 .bytes = rows(width),
                 .modules = Module::MoeActivation | Module::Op,
                 .inside = plan.expert_overlap,
                 .saved_by = Module::MoeActivation});
  const bool inside = plan.expert_overlap && size.keeps_first;
  if (ways > 1) memory.keep({"rows that go back", rows((ways - 1) * config.hidden), copies, 1, inside});
  memory.keep({"shared experts", size.elements(gates * shared) + size.read(shared), Module::SharedExperts | Module::Op, kEverySecond});
  if (form.shared_gate)
    memory.keep({"shared experts before their gate", size.elements(config.hidden + 1), Module::SharedExperts | Module::Op});
  memory.output_gradient = rows(config.hidden);
  memory.input_gradients = rows((plan.splits_backward() ? config.hidden : 0) + gates * width);
  // Where experts are wider than tokens: gradients of activations beside those of the first products, when those of the rows have been read.
  if (!habits.keeps_masks && width >= config.hidden) memory.middle_temporary = rows(width + 1 - config.hidden);
  memory.weight_inputs = size.normalized + rows(config.hidden + width) + size.elements(shared);
  memory.output_gradients = rows(config.hidden + gates * width) + size.elements(gates * shared + config.hidden);
  cast_for_router(memory, routed * config.hidden, plan);
}

// Numbers of an inner one that an activation's backward makes: of a gate both halves and a product, which the worker's kernel on a GPU needs not; of a relu that
// beside what it put out.
std::int64_t slopes_of(const ModelConfig& config, const ParallelPlan& plan) {
  if (!config.gated_mlp) return keeps_before_activation(config) ? 1 : 2;
  return is_worker_on_gpu(plan.cluster) && config.activation == Activation::Silu && config.gate_limit == 0 ? 2 : 3;
}

// A split backward leaves the second product's input for the weight's gradient.
void add_mlp(SegmentMemory& memory, const SegmentSizes& size, const ParallelPlan& plan) {
  const ModelConfig& config = plan.model;
  const std::int64_t gates = config.gated_mlp ? 2 : 1;
  memory.keep_normalized(size.read(size.normalized), size.keeps_first);
  if (keeps_before_activation(config)) memory.keep({"first products", size.elements(gates * size.ffn), Module::Op, gated_share(config)});
  const bool keeps_activations = size.keeps_last || !keeps_before_activation(config);  // a relu's backward reads them, too
  if (keeps_activations) memory.keep({"activations", size.read(size.ffn), Module::Op});
  for (Kept& tensor : memory.tensors) tensor.saved_by = Module::Mlp;
  if (config.ffn_dropout > 0 && habits_of(plan.cluster).keeps_masks)  // and what it leaves
    memory.keep({"inner dropout", size.elements(size.ffn) + Bytes(size.tokens * size.ffn), Module::Op});
  if (holds_last_product(config, plan)) memory.unread = size.elements(config.hidden);
  memory.keep({"what the last product put out", memory.unread});
  // The last product's backward frees its input before the activation's; not where it is left for Weight, and not where nothing kept it. Other programs'
  // frozen products are told without.
  const bool frees_none = plan.splits_backward() || (!keeps_activations && !habits_of(plan.cluster).keeps_masks);
  memory.backward_temporary = size.elements((slopes_of(config, plan) + (frees_none ? 1 : 0)) * size.ffn);
  memory.weight_inputs = size.normalized + size.elements(size.ffn);
  memory.output_gradients = size.elements(gates * size.ffn + config.hidden);
}

}  // namespace sim
