#include "executor/model/experts.h"

#include <ATen/ops/mm.h>

#include <utility>

#include "executor/model/activation.h"
#include "executor/model/linear.h"
#include "executor/model/weight_gradients.h"

namespace executor {
namespace {

at::Tensor run(Piece& piece, const at::Tensor& input, const Piece::Function& function, bool records) {
  return records ? piece.forward(input, function) : function(input);
}

at::Tensor reordered(const at::Tensor& rows, const at::Tensor& order) { return order.defined() ? rows.index_select(0, order) : rows; }

}  // namespace

Experts::Experts(const sim::ModelConfig& config, const LayerParts& layer)
    : form_(*config.experts),
      activation_(config.activation),
      gated_(config.gated_mlp),
      router_(find_leaf(layer, ".mlp.router.weight")),
      routed_{.up = find_leaf(layer, ".mlp.experts.up.weight"), .down = find_leaf(layer, ".mlp.experts.down.weight")},
      shared_{.up = find_leaf(layer, ".mlp.shared.up.weight"), .down = find_leaf(layer, ".mlp.shared.down.weight")} {}

at::Tensor Experts::activated(const at::Tensor& up) const {
  return gated_ ? gated_activation(up, activation_) : activation(up, activation_);
}

at::Tensor Experts::send(const at::Tensor& normalized, ExpertActivations& kept, Recording records) const {
  kept.routing = route(at::mm(normalized, router_.value.t()), form_);
  kept.order = order_tokens(kept.routing, form_);
  if (shared_.up.value.defined())
    kept.shared_output = run(
        kept.shared, normalized, [&](const at::Tensor& x) { return linear(activated(linear(x, shared_.up)), shared_.down); }, records.on);
  kept.normalized = normalized;
  return to_rows(normalized, kept.order);
}

at::Tensor Experts::compute(const at::Tensor& arrived, ExpertActivations& kept, Recording records) const {
  const RowCounts& held = kept.exchange.held;
  const auto products = [&](const at::Tensor& rows) {
    return grouped_linear(activated(grouped_linear(rows, routed_.up, held)), routed_.down, held);
  };
  return reordered(run(kept.products, reordered(arrived, kept.exchange.sorted), products, records.on), kept.exchange.arrived);
}

at::Tensor Experts::combine(at::Tensor returned, ExpertActivations& kept) const {
  at::Tensor sum = from_rows(returned, kept.order, kept.routing.weights);
  if (kept.shared_output.defined()) sum.add_(std::exchange(kept.shared_output, {}));
  kept.returned = std::move(returned);
  return sum;
}

at::Tensor Experts::combine_backward(const at::Tensor& gradient, ExpertActivations& kept) const {
  if (shared_.up.value.defined()) kept.output_gradient = gradient;
  SumGradient sum = from_rows_backward(gradient, std::exchange(kept.returned, {}), kept.order, kept.routing.weights);
  kept.weight_gradient = std::move(sum.weights);
  return std::move(sum.rows);
}

at::Tensor Experts::compute_backward(const at::Tensor& gradient, ExpertActivations& kept) const {
  return reordered(kept.products.backward(reordered(gradient, kept.exchange.sorted)), kept.exchange.arrived);
}

at::Tensor Experts::send_backward(const at::Tensor& gradient, ExpertActivations& kept, double balance) const {
  at::Tensor sum = from_rows(gradient, kept.order);
  if (shared_.up.value.defined()) sum.add_(kept.shared.backward(std::exchange(kept.output_gradient, {})));
  const RoutingGradient routing{.weights = std::exchange(kept.weight_gradient, {}), .balance = balance};
  const at::Tensor logits = route_backward(kept.routing, routing, form_).to(sum.scalar_type());
  sum.addmm_(logits, router_.value);
  PutOff::sum_or_keep({.output_gradient = logits, .input = std::exchange(kept.normalized, {}), .weight = router_.gradient, .bias = {}});
  return sum;
}

}  // namespace executor
