#include "sim/cost/map_operators.h"

#include <cmath>

namespace sim {
namespace {

// How often an operator goes through the map that it reads and the one that it writes, and how many of the latter it keeps.
//
//   batch norm      moments, then read and written; backward reads two tensors twice and writes one
//   activation      in place: its output is what backward, and the next convolution, read
//   pooling         writes the places that its numbers came from beside them
//   channel scale   Hu et al. 2018: the factors' gradients are sums over the map
//   upsampling      from a quarter of the places
//   fused           activation and sum are a part of the norm in front of them
struct Passes {
  OperatorKind kind{};
  double read = 0, written = 0, read_back = 0, written_back = 0, kept = 0;
  double fused = 1, fused_back = 1;  // share of the passes that is left
  double first = 0, first_back = 0;  // of those written, what stands in front of statistics that ranks exchange, in the order of a forward
  double forward(MapPart part) const { return (part.first ? first : 0) + (part.second ? written - first : 0); }
  double backward(MapPart part) const { return (part.first ? first_back : 0) + (part.second ? written_back - first_back : 0); }
};
constexpr Passes kPasses[] = {
    {.kind = OperatorKind::BatchNorm, .written = 3, .written_back = 5, .first = 1, .first_back = 3},
    {.kind = OperatorKind::Activation, .written = 2, .written_back = 3, .kept = 1, .fused = 0, .fused_back = 0},
    {.kind = OperatorKind::Residual, .written = 3, .written_back = 3, .fused = 1.0 / 3, .fused_back = 1.0 / 3},
    {.kind = OperatorKind::Dropout, .written = 2, .written_back = 2},
    {.kind = OperatorKind::Pooling, .read = 1, .written = 2, .read_back = 1, .written_back = 3, .kept = 2},
    {.kind = OperatorKind::Averaging, .read = 1, .read_back = 1},
    {.kind = OperatorKind::ChannelScale, .written = 4, .written_back = 12, .kept = 1},
    {.kind = OperatorKind::Upsampling, .written = 1.25, .written_back = 1.25},
    {.kind = OperatorKind::Concatenation, .written = 2, .written_back = 2},
    {.kind = OperatorKind::Convolution, .kept = 1},
};

const Passes& passes_of(const Operator& op) {
  std::size_t at = 0;
  while (kPasses[at].kind != op.kind) ++at;
  return kPasses[at];
}

struct MapNumbers {
  double read = 0, written = 0;
};
MapNumbers numbers_of(const Operator& op, const ParallelPlan& plan) {
  const std::int64_t samples = plan.shard_shape().tokens();
  return {static_cast<double>(samples * op.map.read * op.inputs), static_cast<double>(samples * op.map.places * op.outputs)};
}

bool fuses(const ParallelPlan& plan) { return plan.cluster.software.fused_residual || plan.cluster.software.compiled; }

// A copy reads and writes its bytes.
std::vector<KernelCall> moving(double numbers, const ParallelPlan& plan) {
  const auto bytes = static_cast<std::int64_t>(std::llround(numbers / 2)) * plan.bytes(Numbers::Activations).value();
  if (bytes == 0) return {};
  return {{.kernel = Kernel::Copy, .shape = {bytes}}};
}

// As kernels take products: rows, outputs, inputs, and how many of them.
KernelCall product(const Operator& op, const ParallelPlan& plan, Kernel kernel) {
  const MapNumbers numbers = numbers_of(op, plan);
  const std::int64_t groups = op.map.groups, width = op.inputs / groups * op.map.area();
  KernelCall call{.kernel = kernel, .shape = {plan.shard_shape().tokens() * op.map.places, op.outputs / groups, width}};
  if (groups > 1) call.shape[3] = groups;
  call.convolution = &op;
  call.moved = plan.bytes(Numbers::Activations) * (static_cast<std::int64_t>(numbers.read + numbers.written) + width * op.outputs);
  return call;
}

}  // namespace

std::vector<KernelCall> map_forward(const Operator& op, const ParallelPlan& plan, MapPart part) {
  if (op.kind == OperatorKind::Convolution) return {product(op, plan, Kernel::LinearForward)};
  const Passes& passes = passes_of(op);
  const MapNumbers numbers = numbers_of(op, plan);
  return moving((fuses(plan) ? passes.fused : 1) * (passes.read * numbers.read + passes.forward(part) * numbers.written), plan);
}

// Of a convolution that reads images nobody asks for their gradient. An average over neighbours spreads its gradient over each of them.
std::vector<KernelCall> map_backward(const Operator& op, const ParallelPlan& plan, MapPart part) {
  if (op.kind == OperatorKind::Convolution) {
    std::vector<KernelCall> calls{product(op, plan, Kernel::LinearWeightGradient)};
    if (!op.map.of_images) calls.push_back(product(op, plan, Kernel::LinearInputGradient));
    return calls;
  }
  const Passes& passes = passes_of(op);
  const MapNumbers numbers = numbers_of(op, plan);
  const double read = op.kind == OperatorKind::Pooling && op.map.stride == 1 ? 3 : passes.read_back;
  return moving((fuses(plan) ? passes.fused_back : 1) * (read * numbers.read + passes.backward(part) * numbers.written), plan);
}

Bytes kept_of_map(const Operator& op, const ParallelPlan& plan) {
  if (!is_of_maps(op)) return {};
  const double copies = passes_of(op).kept + (op.map.kept ? 1 : 0);
  return plan.bytes(Numbers::Activations) * static_cast<std::int64_t>(std::llround(copies * numbers_of(op, plan).written));
}

}  // namespace sim
