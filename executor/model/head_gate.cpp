#include "executor/model/head_gate.h"

#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softplus.h>
#include <torch/csrc/autograd/custom_function.h>

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// In fp32 at least, as Transformers makes them.
at::Tensor in_full(const at::Tensor& gates) { return gates.to(at::toOpMathType(gates.scalar_type())); }
at::Tensor weights_of(const at::Tensor& gates, GateKind kind) {
  return (kind == GateKind::Sigmoid ? at::sigmoid(in_full(gates)) : at::softplus(in_full(gates))).to(gates.scalar_type());
}
at::Tensor slopes_of(const at::Tensor& gates, GateKind kind) {
  const at::Tensor sigmoid = at::sigmoid(in_full(gates));
  return (kind == GateKind::Sigmoid ? sigmoid * (1 - sigmoid) : sigmoid).to(gates.scalar_type());
}
// [tokens, gates, elements of each]
at::Tensor by_gate(const at::Tensor& rows, const at::Tensor& gates) { return rows.view({rows.size(0), gates.size(1), -1}); }

struct GateFunction : torch::autograd::Function<GateFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& mixed, const at::Tensor& gates, GateKind kind) {
    context->save_for_backward({mixed, gates});
    context->saved_data["kind"] = static_cast<std::int64_t>(kind);
    return (by_gate(mixed, gates) * weights_of(gates, kind).unsqueeze(2)).view_as(mixed);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &mixed = saved[0], &gates = saved[1], out = gradients.front().contiguous();
    const auto kind = static_cast<GateKind>(context->saved_data["kind"].toInt());
    const at::Tensor slope = (by_gate(out, gates) * by_gate(mixed, gates)).sum(2).mul_(slopes_of(gates, kind));
    return {(by_gate(out, gates) * weights_of(gates, kind).unsqueeze(2)).view_as(mixed), slope, at::Tensor()};
  }
};

}  // namespace

at::Tensor gated_heads(const at::Tensor& mixed, const at::Tensor& gates, GateKind kind) { return GateFunction::apply(mixed, gates, kind); }

}  // namespace executor
