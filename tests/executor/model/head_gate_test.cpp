#include "executor/model/head_gate.h"

#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softplus.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

struct GateResult {
  at::Tensor output, mixed, gates;  // and gradients of what was read
};

template <class Gated>
GateResult passed(std::int64_t num_gates, const Gated& gated) {
  const at::Tensor mixed = recorded(random_tensor({5, 6}, 1)), gates = recorded(random_tensor({5, num_gates}, 2));
  const at::Tensor output = gated(mixed, gates);
  (output * random_tensor({5, 6}, 3)).sum().backward();
  return {output.detach(), mixed.grad(), gates.grad()};
}

// Two heads of three numbers, or each number by its own gate: as LibTorch's operators make it.
TEST(HeadGate, IsWhatOperatorsMake) {
  for (const GateKind kind : {GateKind::Sigmoid, GateKind::Softplus})
    for (const std::int64_t num_gates : {2, 6}) {
      const GateResult is =
          passed(num_gates, [&](const at::Tensor& mixed, const at::Tensor& gates) { return gated_heads(mixed, gates, kind); });
      const GateResult expected = passed(num_gates, [&](const at::Tensor& mixed, const at::Tensor& gates) {
        const at::Tensor weights = kind == GateKind::Sigmoid ? at::sigmoid(gates) : at::softplus(gates);
        return mixed * weights.repeat_interleave(6 / num_gates, 1);
      });
      EXPECT_LT(relative_error(is.output, expected.output), 1e-15);
      EXPECT_LT(relative_error(is.mixed, expected.mixed), 1e-14);
      EXPECT_LT(relative_error(is.gates, expected.gates), 1e-14);
    }
}

}  // namespace
}  // namespace executor
