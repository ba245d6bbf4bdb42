#include "sim/cost/kernel_work.h"

#include <algorithm>

#include "sim/model/expert_form.h"

namespace sim {
namespace {

// Elements that an elementwise kernel reads and writes for each element of its shape.
std::int64_t accesses(Kernel kernel) {
  switch (kernel) {
    case Kernel::CrossEntropyForward:
    case Kernel::SquaredNorm: return 1;
    case Kernel::NormForward:
    case Kernel::ActivationForward:
    case Kernel::EmbeddingForward:
    case Kernel::RotaryForward:
    case Kernel::RotaryBackward:
    case Kernel::DropoutForward:
    case Kernel::DropoutBackward:
    case Kernel::CrossEntropyBackward: return 2;
    case Kernel::NormBackward:
    case Kernel::ActivationBackward:
    case Kernel::GatedActivationForward:
    case Kernel::ResidualForward:
    case Kernel::ResidualBackward:
    case Kernel::EmbeddingBackward: return 3;
    case Kernel::Permutation: return kPermutationPasses;
    case Kernel::GatedActivationBackward: return 5;
    default: return 0;
  }
}

// The optimizer reads the gradient, reads and writes the master weight and its `moments`, and writes the 16-bit weight where there is one.
Bytes optimizer_bytes(std::int64_t elements, std::int64_t moments, Precision precision) {
  const Bytes element = bytes_per_element(precision);
  if (is_sixteen_bit(precision)) return elements * (element * 2 + Bytes(4) * (2 + 2 * moments));
  return elements * element * (3 + 2 * moments);
}

KernelWork matrix_product(std::span<const std::int64_t> shape, Bytes element) {
  const std::int64_t tokens = shape[0], outputs = shape[1], inputs = shape[2];
  const std::int64_t products = shape.size() > 3 ? std::max<std::int64_t>(1, shape[3]) : 1;
  return {Flops(2.0 * static_cast<double>(products * tokens) * static_cast<double>(outputs) * static_cast<double>(inputs)),
          element * (products * (tokens * inputs + inputs * outputs + tokens * outputs))};
}

// Causal: s (s + 1) / 2 pairs; the backward computes the scores again (2.5 times the forward) and moves q, k, v, out and their gradients.
KernelWork attention(std::span<const std::int64_t> shape, Bytes element, bool backward) {
  const double pairs_twice = static_cast<double>(shape[2]) * (static_cast<double>(shape[2]) + 1.0);
  const double forward = 2.0 * static_cast<double>(shape[0] * shape[1] * shape[3]) * pairs_twice;
  return {Flops(backward ? 2.5 * forward : forward), element * (shape[0] * shape[1] * shape[2] * shape[3] * (backward ? 8 : 4))};
}

KernelWork scan_work(Kernel kernel, std::span<const std::int64_t> shape, Bytes element) {
  const Scan scan = scan_of(kernel, shape);
  const bool backward = is_backward_scan(kernel);
  return {scan_flops(scan) * (backward ? kScanBackwardFlops : 1), scan_bytes(scan, element) * (backward ? kScanBackwardBytes : 1)};
}

KernelWork sparse_work(std::span<const std::int64_t> shape, Bytes element, bool backward) {
  return {sparse_flops(sparse_of(shape), backward), sparse_bytes(sparse_of(shape), element, backward)};
}

KernelWork index_work(std::span<const std::int64_t> shape, Bytes element, bool backward) {
  return {index_flops(scores_of(shape), backward), index_bytes(scores_of(shape), element, backward)};
}

}  // namespace

SparseAttention sparse_of(std::span<const std::int64_t> shape) { return {shape[0], shape[1], shape[2], shape[3], shape[4], shape[5]}; }
IndexScores scores_of(std::span<const std::int64_t> shape) { return {shape[0], shape[1], shape[2], shape[3], shape[4]}; }

bool is_backward_scan(Kernel kernel) {
  return kernel == Kernel::StateSpaceBackward || kernel == Kernel::DeltaRuleBackward || kernel == Kernel::ChannelDeltaBackward ||
         kernel == Kernel::SelectiveScanBackward;
}

Scan scan_of(Kernel kernel, std::span<const std::int64_t> shape) {
  const LinearRule rule = kernel <= Kernel::StateSpaceBackward     ? LinearRule::StateSpace
                          : kernel <= Kernel::DeltaRuleBackward    ? LinearRule::GatedDelta
                          : kernel <= Kernel::ChannelDeltaBackward ? LinearRule::ChannelDelta
                                                                   : LinearRule::Selective;
  return {.rule = rule, .tokens = shape[0], .heads = shape[1], .groups = shape[2], .key = shape[3], .value = shape[4], .chunk = shape[5]};
}

KernelFamily family_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::LinearForward:
    case Kernel::LinearInputGradient:
    case Kernel::LinearWeightGradient: return KernelFamily::MatrixProduct;
    case Kernel::AttentionForward:
    case Kernel::AttentionBackward: return KernelFamily::FusedAttention;
    case Kernel::StateSpaceForward:
    case Kernel::StateSpaceBackward:
    case Kernel::DeltaRuleForward:
    case Kernel::DeltaRuleBackward:
    case Kernel::ChannelDeltaForward:
    case Kernel::ChannelDeltaBackward:
    case Kernel::SelectiveScanForward:
    case Kernel::SelectiveScanBackward: return KernelFamily::Scan;
    case Kernel::SparseForward:
    case Kernel::SparseBackward: return KernelFamily::Sparse;
    case Kernel::IndexerForward:
    case Kernel::IndexerBackward: return KernelFamily::Index;
    default: return KernelFamily::MemoryBound;
  }
}

KernelWork kernel_work(Kernel kernel, std::span<const std::int64_t> shape, Precision precision) {
  const Bytes element = bytes_per_element(precision);
  switch (family_of(kernel)) {
    case KernelFamily::MatrixProduct: return matrix_product(shape, element);
    case KernelFamily::FusedAttention: return attention(shape, element, kernel == Kernel::AttentionBackward);
    case KernelFamily::Scan: return scan_work(kernel, shape, element);
    case KernelFamily::Sparse: return sparse_work(shape, element, kernel == Kernel::SparseBackward);
    case KernelFamily::Index: return index_work(shape, element, kernel == Kernel::IndexerBackward);
    case KernelFamily::MemoryBound: break;
  }
  switch (kernel) {
    case Kernel::AdamW: return {Flops(0), optimizer_bytes(shape[0], 2, precision)};
    case Kernel::Sgd: return {Flops(0), optimizer_bytes(shape[0], 1, precision)};
    case Kernel::SquaredNorm: return {Flops(0), element * shape[0]};
    case Kernel::Copy: return {Flops(0), Bytes(2 * shape[0])};
    case Kernel::Routing: return {Flops(0), Bytes(kRoutingBytes * shape[0] * shape[1])};
    case Kernel::OperatorCall:
    case Kernel::AutogradCall: return {};
    default: return {Flops(0), element * (accesses(kernel) * shape[0] * shape[1])};
  }
}

}  // namespace sim
