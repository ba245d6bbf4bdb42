#include "sim/cost/modelled_kernels.h"

#include <algorithm>
#include <cmath>

#include "sim/clock/expert_load.h"
#include "sim/clock/link_clock.h"
#include "sim/clock/spread.h"
#include "sim/cost/cast_kernels.h"
#include "sim/cost/gradient_lifetime.h"
#include "sim/cost/resident_memory.h"
#include "sim/model/segment.h"
#include "sim/plan/scaled_products.h"
#include "sim/plan/token_route.h"

namespace sim {
namespace {

// A CPU multiplies what was rounded to 8 bit as it multiplies wider numbers.
NumberFormat format_of(const ParallelPlan& plan) {
  const PrecisionPolicy& policy = plan.workload.precision;
  if (const auto scales = policy.scales(); scales && plan.cluster.hardware.kind != DeviceKind::Cpu)
    return is_four_bit(*scales) ? NumberFormat::Fp4 : NumberFormat::Fp8;
  switch (policy.compute()) {
    case Precision::Fp64: return NumberFormat::Fp64;
    case Precision::Tf32: return NumberFormat::Tf32;
    case Precision::Bf16: return NumberFormat::Bf16;
    case Precision::Fp16: return NumberFormat::Fp16;
    default: return NumberFormat::Fp32;
  }
}

constexpr double kCastOfMaster = 4 + 2;  // bytes, read and written: a weight to 16 bit, its gradient to fp32

// Weights that stay whole are cast once a step by programs that keep what they cast; those gathered in 8 bit were cast as shards, and
// frozen ones that are kept so when they were loaded.
double weight_casts(const ParallelPlan& plan) {
  if (plan.workload.precision.gathers_scaled() || reads_frozen_as_kept(plan)) return 0;
  return plan.cluster.software.cached_fp8_weights && plan.zero_stage < 3 ? 1 / real(plan.num_microbatches()) : 1;
}

Pass pass_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::NormBackward:
    case Kernel::ActivationBackward:
    case Kernel::GatedActivationBackward:
    case Kernel::ResidualBackward:
    case Kernel::EmbeddingBackward:
    case Kernel::CrossEntropyBackward:
    case Kernel::RotaryBackward:
    case Kernel::DropoutBackward: return Pass::Backward;
    default: return Pass::Forward;
  }
}

}  // namespace

bool gathers_scaled(const ParallelPlan& plan) {
  const auto scales = plan.workload.precision.scales();
  return scales && *scales != ScaleRecipe::Rowwise && plan.sequence_parallel && plan.cluster.software.gathers_fp8;
}

KernelSetting setting_of(const ParallelPlan& plan) {
  const SoftwareStack& stack = plan.cluster.software;
  const double gradient = real(plan.bytes(Numbers::Gradients).value());
  const bool half = is_sixteen_bit(plan.workload.precision.compute());
  KernelSetting setting = usual_setting(stack);
  setting.attention = attention_kernel(plan, stack);
  setting.format = format_of(plan);
  setting.scales = plan.workload.precision.scales().value_or(setting.scales);
  setting.accumulate_bytes = half ? std::max(stack.accumulate_bytes, gradient) : gradient;
  setting.moments = real(moments_of(plan.workload.optimizer, stack));
  setting.autocast = is_autocast(plan);
  setting.has_trust_ratio = plan.workload.optimizer == OptimizerKind::Lamb;
  return setting;
}

namespace {
KernelSetting unscaled(KernelSetting setting) {
  setting.format = unscaled(setting.format);
  return setting;
}
}  // namespace

ModelledKernels::ModelledKernels(const ParallelPlan& plan)
    : plan_(plan),
      device_(plan.cluster.hardware),
      setting_(setting_of(plan)),
      wide_setting_(unscaled(setting_)),
      clock_(device_, plan.cluster.software, setting_),
      wide_clock_(device_, plan.cluster.software, wide_setting_),
      operators_(clock_, plan.cluster.software, setting_),
      launch_share_(plan.cuda_graphs == CudaGraphs::None ? 1 : device_.behavior.graph_launch_share),
      uncaptured_share_(plan.cuda_graphs == CudaGraphs::FullIteration ? device_.behavior.graph_launch_share : 1),
      weight_casts_(weight_casts(plan)),
      slowest_(slowest_device(real(plan.mesh.ranks()), device_.behavior)),
      accumulates_(plan.num_pieces() > 1 && (!reduces_each(plan) || plan.mesh.copies() == 1)),
      accumulates_experts_(plan.num_pieces() > 1 && (!reduces_each(plan) || plan.mesh.expert_copies() * plan.mesh.replicas == 1)) {}

Work ModelledKernels::work(const KernelCall& call) const {
  Work work = family_of(call.kernel) == KernelFamily::MatrixProduct    ? call.share * product(call)
              : family_of(call.kernel) == KernelFamily::FusedAttention ? attention(call)
              : family_of(call.kernel) == KernelFamily::Scan
                  ? call.share * clock_.scan(scan_of(call.kernel, call.shape), is_backward_scan(call.kernel))
              : family_of(call.kernel) == KernelFamily::Sparse
                  ? call.share * clock_.sparse(sparse_of(call.shape), call.kernel == Kernel::SparseBackward)
              : family_of(call.kernel) == KernelFamily::Index
                  ? call.share * clock_.index(scores_of(call.shape), call.kernel == Kernel::IndexerBackward)
                  : call.share * elementwise(call);
  work.device *= slowest_;
  return work;
}

// As two products, which programs that leave keys in 16 bit have anyway.
Work ModelledKernels::product_in_parts(KernelCall call) const {
  KernelCall wide = call;
  wide.shape[1] = std::llround(call.unscaled_share * real(call.shape[1]));
  wide.unscaled = true;
  call.shape[1] -= wide.shape[1];
  wide.unscaled_share = call.unscaled_share = 0;
  return product(call) + product(wide);
}

// Operands are cast for it, and gradients back. A kernel that reads 16 bit and puts out fp32 needs no cast forward; backward it multiplies what was cast, through
// TF32 (Megatron-Core, transformer/moe/moe_utils.py, RouterGatingLinearFunction; Transformer Engine, common/gemm/cublaslt_gemm.cu).
Work ModelledKernels::wide_product(const KernelCall& call) const {
  const double tokens = real(call.shape[0]), outputs = real(call.shape[1]), inputs = real(call.shape[2]);
  const double narrow = clock_.element(), wide = real(bytes_per_element(*call.wide).value());
  const bool mixes = plan_.cluster.software.mixed_products && *call.wide == Precision::Fp32;
  if (mixes && call.kernel == Kernel::LinearForward)
    return wide_clock_.product({tokens, outputs, inputs}) + clock_.bytes(tokens * outputs * (wide - narrow), 0);
  KernelSetting setting = setting_;
  setting.format = *call.wide == Precision::Fp64 ? NumberFormat::Fp64 : mixes ? NumberFormat::Tf32 : NumberFormat::Fp32;
  const KernelClock clock(device_, plan_.cluster.software, setting);
  const double stream = tokens * inputs, weights = outputs * inputs;
  const Work casts = clock_.bytes((stream + weights) * (narrow + wide), 2);
  if (call.kernel == Kernel::LinearForward) return clock.product({tokens, outputs, inputs}) + casts;
  if (call.kernel == Kernel::LinearInputGradient) return clock.product({tokens, inputs, outputs}) + casts;
  const Work gradient = clock.product({outputs, inputs, tokens}) + casts;
  return accumulates_ ? gradient + operators_.accumulation(weights) : gradient;
}

Work ModelledKernels::product(const KernelCall& call) const {
  const double outputs = real(call.shape[1]), inputs = real(call.shape[2]);
  if (call.convolution != nullptr) return convolution(call);
  if (call.unscaled_share > 0) return product_in_parts(call);
  if (call.wide) return wide_product(call);
  if (call.shape[3] > 0) return grouped(call);
  const double tokens = real(call.shape[0]), rows = call.gathered_rows && gathers_scaled(plan_) ? 1 / real(plan_.mesh.tensor) : 1;
  const auto product = [&](const MatrixShape& shape) { return clock_of(call).product(shape); };
  const Work cast = setting_.autocast ? clock_.bytes(kCastOfMaster * outputs * inputs) : Work{};
  if (call.kernel == Kernel::LinearForward) return product({tokens, outputs, inputs, 1, weight_casts_, rows}) + cast;
  if (call.kernel == Kernel::LinearInputGradient)
    return product(
        {.rows = tokens, .columns = inputs, .inner = outputs, .weight_casts = weight_casts_, .row_casts = rows, .columns_across = true});
  const Work gradient = product({.rows = outputs, .columns = inputs, .inner = tokens, .rows_across = true, .columns_across = true}) + cast;
  return accumulates_ ? gradient + operators_.accumulation(outputs * inputs) : gradient;
}

Work ModelledKernels::convolution(const KernelCall& call) const {
  const Operator& op = *call.convolution;
  const MapShape& map = op.map;
  const Convolution shape{.inputs = real(op.inputs),
                          .outputs = real(op.outputs),
                          .height = real(map.height),
                          .width = real(map.width),
                          .stride = real(map.stride),
                          .size = std::sqrt(real(map.places)),
                          .groups = real(map.groups)};
  const Gradient gradient = call.kernel == Kernel::LinearForward         ? Gradient::None
                            : call.kernel == Kernel::LinearInputGradient ? Gradient::Input
                                                                         : Gradient::Weight;
  const Work work = clock_.convolution(shape, real(call.shape[0] / map.places), gradient);
  return accumulates_ && gradient == Gradient::Weight ? work + operators_.accumulation(shape.weights()) : work;
}

Work ModelledKernels::grouped(const KernelCall& call) const {
  const double rows = expert_rows(real(call.shape[0]), device_.behavior), held = real(call.shape[3]);
  const double outputs = real(call.shape[1]), inputs = real(call.shape[2]);
  const KernelClock& clock = clock_of(call);
  const ExpertDispatch dispatch = plan_.model.experts->dispatch;
  const Pass pass = call.kernel == Kernel::LinearForward ? Pass::Forward : Pass::Backward;
  const Work bias = call.adds_bias && plan_.cuda_graphs != CudaGraphs::FullIteration
                        ? operators_.expert_biases({real(call.shape[0]) * held * outputs, held}, pass)
                        : Work{};
  if (call.kernel == Kernel::LinearForward)
    return clock.grouped({rows, outputs, inputs, held, weight_casts_}, dispatch, 1 + weight_casts_) + bias;
  if (call.kernel == Kernel::LinearInputGradient) {
    const MatrixShape shape{
        .rows = rows, .columns = inputs, .inner = outputs, .batch = held, .weight_casts = weight_casts_, .columns_across = true};
    return clock.grouped(shape, dispatch, 1) + bias;
  }
  const MatrixShape of_weights{
      .rows = outputs, .columns = inputs, .inner = rows, .batch = held, .rows_across = true, .columns_across = true};
  const Work gradient = clock.grouped(of_weights, dispatch);
  return accumulates_experts_ ? gradient + operators_.accumulation(outputs * inputs * held) : gradient;
}

// A fused kernel that knows the mask leaves out what it hides; others compute it. Those that write scores out keep them, or selective recomputation makes
// them again.
Work ModelledKernels::attention(const KernelCall& call) const {
  const bool is_fused = !writes_scores(setting_.attention), skips = skips_hidden(setting_.attention),
             backward = call.kernel == Kernel::AttentionBackward;
  const double length = real(call.shape[2]), dim = real(call.shape[3]), ranks = real(plan_.block_ranks());
  const bool sees_all = plan_.model.bidirectional;                                           // calls are described by causal samples
  const bool is_ring = ranks > 1 && plan_.context_algorithm != ContextAlgorithm::AllGather;  // a call is one of its blocks
  const AttentionShape shape{.batch = real(call.shape[0]),
                             .heads = real(call.shape[1]),
                             .kv_heads = real(call.shape[1]),
                             .queries = length * (sees_all ? call.share * (length + 1) / (2 * length) : call.share),
                             .keys = skips && !sees_all ? length / 2 : length,
                             .key_dim = dim,
                             .value_dim = dim,
                             .causal = skips && !sees_all,
                             .merged = is_ring ? length / ranks * (1 - 1 / ranks) : 0};
  if (is_fused) return (is_ring ? ring_slowdown(plan_.cluster.software, ranks) : 1) * clock_.flash(shape, backward);
  const bool again = backward && plan_.recomputes_scores();
  return again ? clock_.unfused(shape, false) + clock_.unfused(shape, true) : clock_.unfused(shape, backward);
}

Work ModelledKernels::elementwise(const KernelCall& call) const {
  const double elements = real(call.shape[0]) * real(std::max<std::int64_t>(call.shape[1], 1)), bytes = elements * clock_.element();
  const Pass pass = pass_of(call.kernel);
  switch (call.kernel) {
    case Kernel::NormForward:
    case Kernel::NormBackward: return operators_.norm(bytes, {plan_.model.norm == Norm::RmsNorm}, pass);
    case Kernel::ActivationForward:
    case Kernel::ActivationBackward: return operators_.activation(bytes, {false}, pass);
    case Kernel::GatedActivationForward:
    case Kernel::GatedActivationBackward: return operators_.activation(bytes, {.gated = true, .clamped = plan_.model.gate_limit > 0}, pass);
    case Kernel::ResidualForward:
    case Kernel::ResidualBackward: return operators_.residual(bytes, {plan_.model.mlp_bias, false}, pass);
    case Kernel::EmbeddingForward:
    case Kernel::EmbeddingBackward: return operators_.embedding(bytes, pass);
    case Kernel::CrossEntropyForward:
    case Kernel::CrossEntropyBackward:
      return operators_.cross_entropy(elements * (plan_.cluster.software.vocabulary_parallel ? 1 : plan_.mesh.tensor), pass);
    case Kernel::RotaryForward:
    case Kernel::RotaryBackward: return operators_.rotary(bytes, {lengthens(plan_.model.rope_scaling)}, pass);
    case Kernel::DropoutForward:
    case Kernel::DropoutBackward: return operators_.dropout(bytes, pass);
    case Kernel::Routing: return operators_.routing(elements);
    case Kernel::Permutation: return operators_.permutation(bytes);
    case Kernel::Copy: return clock_.bytes(2 * real(call.shape[0]));
    default: return {};
  }
}

// The clock's are those of fp32 masters and moments, each read and written.
double ModelledKernels::optimizer_bytes() const {
  Workload usual = plan_.workload;
  usual.precision = usual.precision.compute();
  if (usual.optimizer == OptimizerKind::AdamW8bit) usual.optimizer = OptimizerKind::AdamW;
  const SoftwareStack& program = plan_.cluster.software;
  const Bytes states = optimizer_bytes_per_element(plan_.workload, program) - optimizer_bytes_per_element(usual, program);
  return operators_.optimizer_bytes() + 2 * real(states.value());
}

// ZeRO-1 and 2 of programs whose ranks send their new weights one after another: what starting all of them takes.
Seconds ModelledKernels::broadcasts() const {
  const SoftwareStack& software = plan_.cluster.software;
  if (plan_.zero_stage == 0 || plan_.zero_stage == 3 || plan_.mesh.shards() == 1) return Seconds(0);
  return software.broadcast_start * plan_.mesh.shards();
}

// The optimizer's bytes hold the norm's: what NormPart reads is taken out of Update.
Seconds ModelledKernels::flat(Operation operation, Elements elements) const {
  const double count = real(elements.value), gradient = real(plan_.bytes(Numbers::Gradients).value());
  switch (operation) {
    case Operation::NormPart: return time(clock_.bytes(count * gradient)) + plan_.cluster.software.step_overhead + broadcasts();
    case Operation::Accumulate: return time(operators_.accumulation(count));
    default: return time(clock_.bytes(count * (optimizer_bytes() - gradient))) + Seconds(elements.orthogonalized / clock_.product_rate());
  }
}

}  // namespace sim
