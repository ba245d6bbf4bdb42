#include "sim/cost/cast_kernels.h"

#include <cmath>

namespace sim {

// Where FSDP has cast weights, or adapters alone are trained, the stream is in 16 bit. What a compiler leaves of the casts is not known.
bool is_autocast(const ParallelPlan& plan) {
  const PrecisionPolicy& precision = plan.workload.precision;
  return plan.cluster.software.autocast && !plan.cluster.software.compiled && is_sixteen_bit(precision.compute()) &&
         precision.has_masters() && plan.zero_stage < 3 && !plan.model.adapters;
}

// A norm reads what is cast of the stream, a sum reads and writes it. Gradients are cast the same way back, and a wide one is added to a wide one. What
// autocast does is priced with its operators.
std::vector<KernelCall> beside_stream(const Operator& op, std::int64_t numbers, const ParallelPlan& plan, Pass pass) {
  const std::int64_t wide = plan.bytes_of_stream().value(), narrow = plan.bytes(Numbers::Activations).value();
  const bool is_norm = op.kind == OperatorKind::Norm && op.name == "norm", is_sum = op.kind == OperatorKind::Residual;
  if (wide == narrow || !(is_norm || is_sum) || is_autocast(plan)) return {};
  const std::int64_t cast = wide + narrow, more = wide - narrow;
  const std::int64_t bytes = is_norm ? cast : pass == Pass::Forward ? 2 * more : 3 * more + cast;
  return {{.kernel = Kernel::Copy, .shape = {numbers * bytes / 2}}};  // a copy reads and writes
}

// What it puts out is written wider, and cast by what reads it; the gradient of that is cast, and read wider, on the way back.
std::vector<KernelCall> beside_norm(const Operator& op, std::int64_t numbers, const ParallelPlan& plan) {
  const std::int64_t wide = plan.bytes_of_norms().value(), narrow = plan.bytes(Numbers::Activations).value();
  if (op.kind != OperatorKind::Norm || !plan.workload.precision.of(WideKind::Norms)) return {};
  const std::int64_t more = wide - narrow, cast = wide + narrow;
  return {{.kernel = Kernel::Copy, .shape = {numbers * (more + cast) / 2}}};  // a copy reads and writes
}

double width_of_scores(const ParallelPlan& plan) { return plan.workload.precision.of(WideKind::Routers) == Precision::Fp64 ? 2 : 1; }

// Words of eight numbers are shifted, cast, masked, and what is left of their zeros is scaled: an operator of PyTorch each (AutoGPTQ, nn_modules/qlinear/
// qlinear_cuda_old.py, forward). Bytes of a number, read and written. Those that spread words, zeros or scales over more numbers walk tensors that are not
// contiguous, as positions of transposed heads do: these took 25.5 and 33 passes of an H200, of 10 and 15 counted.
std::vector<KernelCall> unpacking(double weights) {
  constexpr double kWalking = (25.5 + 33) / (10 + 15);
  constexpr double kShift = 0.5 + 4, kCast = 4 + 1, kMask = 1 + 1, kDifference = 1 + 1, kProduct = 1 + 2;
  constexpr double kOperators[] = {kShift * kWalking, kCast, kMask, kDifference * kWalking, kProduct * kWalking};
  std::vector<KernelCall> calls;
  for (const double bytes : kOperators) calls.push_back({.kernel = Kernel::Copy, .shape = {std::llround(bytes * weights / 2)}});
  return calls;
}

}  // namespace sim
