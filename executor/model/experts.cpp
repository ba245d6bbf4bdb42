#include "executor/model/experts.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sigmoid.h>

#include <utility>

#include "executor/model/activation.h"
#include "executor/model/linear.h"
#include "executor/model/saved_tensors.h"
#include "executor/model/weight_gradients.h"

namespace executor {
namespace {

at::Tensor run(Piece& piece, const at::Tensor& input, const Piece::Function& function, bool records) {
  return records ? piece.forward(input, function) : function(input);
}

ExpertNumbers numbers_in(const Leaf& weight) { return {.type = weight.value.scalar_type(), .card = card_of(weight.value.device())}; }

at::Tensor reordered(const at::Tensor& rows, const at::Tensor& order) { return order.defined() ? rows.index_select(0, order) : rows; }

}  // namespace

bool multiplies_at_once(const sim::ModelConfig& config, const TensorPosition& tensor, ExpertNumbers numbers) {
  const sim::ExpertForm& form = *config.experts;
  if (form.biases) return false;
  const std::int64_t width = form.expert_ffn / (tensor.expert_cut > 0 ? tensor.expert_cut : tensor.degree);
  const std::int64_t up = config.gated_mlp ? 2 * width : width;
  return multiplies_groups(numbers.card, {.type = numbers.type, .inputs = config.hidden, .outputs = up}) &&
         multiplies_groups(numbers.card, {.type = numbers.type, .inputs = width, .outputs = config.hidden});
}

bool orders_on_card(const sim::ModelConfig& config, const TensorPosition& tensor, ExpertNumbers numbers) {
  const bool leave = tensor.expert_degree > 1 || (tensor.cuts_experts_apart() && tensor.expert_cut > 1);
  return !leave && is_order_of_a_device(*config.experts) && multiplies_at_once(config, tensor, numbers);
}

Experts::Experts(const sim::ModelConfig& config, const LayerParts& layer, TensorPosition tensor)
    : form_(*config.experts),
      gate_(gate_form(config)),
      gated_(config.gated_mlp),
      orders_there_(!find_leaf(layer, ".mlp.experts.up.weight").value.is_cpu() && is_order_of_a_device(form_)),
      multiplies_at_once_(!find_leaf(layer, ".mlp.experts.up.weight").scaled &&
                          executor::multiplies_at_once(config, tensor, numbers_in(find_leaf(layer, ".mlp.experts.up.weight")))),
      share_(1.0 / static_cast<double>(tensor.cuts_experts_apart() ? tensor.expert_cut : tensor.degree)),
      router_(find_leaf(layer, ".mlp.router.weight")),
      router_bias_(find_leaf(layer, ".mlp.router.bias")),
      correction_(find_leaf(layer, ".mlp.router.correction")),
      shared_gate_(find_leaf(layer, ".mlp.shared.gate.weight")),
      stretches_(tensor.cuts_experts_apart() && form_.shared_ffn > 0 ? tensor.degree : 1),
      stretch_(stretches_ > 1 ? tensor.rank : 0),
      products_{.up = find_leaf(layer, ".mlp.experts.up.weight"),
                .down = find_leaf(layer, ".mlp.experts.down.weight"),
                .up_bias = find_leaf(layer, ".mlp.experts.up.bias"),
                .down_bias = find_leaf(layer, ".mlp.experts.down.bias")},
      shared_{.up = find_leaf(layer, ".mlp.shared.up.weight"), .down = find_leaf(layer, ".mlp.shared.down.weight")} {}

at::Tensor Experts::activated(const at::Tensor& up) const { return gated_ ? gated_activation(up, gate_) : activation(up, gate_.kind); }

at::Tensor Experts::routed(const at::Tensor& tokens) const {
  if (stretches_ == 1) return tokens;
  const std::int64_t count = tokens.size(0) / stretches_;
  return tokens.narrow(0, stretch_ * count, count);
}

// Of tensor ranks a part of their sum, whatever the gate.
at::Tensor Experts::shared(const at::Tensor& normalized) const {
  const at::Tensor output = linear(activated(linear(normalized, shared_.up)), shared_.down);
  return shared_gate_.value.defined() ? output * at::sigmoid(linear(normalized, shared_gate_)) : output;
}

at::Tensor Experts::send(const at::Tensor& normalized, ExpertActivations& kept, Recording records) const {
  const at::Tensor own = routed(normalized);
  const at::Tensor logits =
      router_bias_.value.defined() ? at::addmm(router_bias_.value, own, router_.value.t()) : at::mm(own, router_.value.t());
  kept.routing = route(logits, form_, correction_.value);
  kept.order = orders_there_ ? order_tokens_there(kept.routing, form_) : order_tokens(kept.routing, form_);
  const bool makes_again = Recomputing::makes_again(sim::Module::SharedExperts);
  if (shared_.up.value.defined()) {
    RankAnswers given;
    const Answering keeps(makes_again ? kept.answers : given, Answering::How::Keep);
    kept.shared_output = run(
        kept.shared, normalized, [&](const at::Tensor& x) { return shared(x); }, records.on && !makes_again);
  }
  if (router_.gradient.defined() || makes_again) kept.normalized = normalized;
  return to_rows(own, kept.order);
}

at::Tensor Experts::compute(const at::Tensor& arrived, ExpertActivations& kept, Recording records) const {
  const TokenExchange& exchange = kept.exchange;
  const bool by_batch = products_.up.scaled && products_.up.scaled->scales_what_it_reads();  // as one process has them
  const RowCounts& counts = by_batch ? exchange.by_batch : exchange.held;
  const auto product = [&counts, &exchange, &ends = kept.exchange.ends](const at::Tensor& rows, GroupedWeights weights) {
    if (ends.defined()) return grouped_linear_to(rows, weights.weight, ends);
    weights.stretches = static_cast<std::int64_t>(counts.size() / exchange.held.size());
    return grouped_linear(rows, weights, counts);
  };
  const auto products = [&](const at::Tensor& rows) {
    const at::Tensor up = product(rows, {.weight = products_.up, .bias = products_.up_bias}), inner = activated(up);
    Saving::offer(sim::Module::ExpertProduct, {rows});
    Saving::offer(sim::Module::MoeActivation, {up});
    Recomputing::offer(sim::Module::MoeActivation, {inner.detach()},
                       [this, up = up.detach()] { return std::vector<at::Tensor>{activated(up)}; });
    return product(inner, {.weight = products_.down, .bias = products_.down_bias, .share = share_});
  };
  return reordered(run(kept.products, reordered(arrived, kept.exchange.sorted), products, records.on), kept.exchange.arrived);
}

at::Tensor Experts::combine(at::Tensor returned, ExpertActivations& kept) const {
  at::Tensor sum = from_rows(returned, kept.order, kept.routing.weights);
  kept.returned = std::move(returned);
  if (!kept.shared_output.defined()) return sum;
  const at::Tensor shared = std::exchange(kept.shared_output, {});
  if (stretches_ == 1) return sum.add_(shared);
  routed(shared).add_(sum);
  return shared;
}

at::Tensor Experts::combine_backward(const at::Tensor& gradient, ExpertActivations& kept) const {
  if (shared_.up.value.defined()) kept.output_gradient = gradient;
  SumGradient sum = from_rows_backward(routed(gradient), std::exchange(kept.returned, {}), kept.order, kept.routing.weights);
  kept.weight_gradient = std::move(sum.weights);
  return std::move(sum.rows);
}

at::Tensor Experts::compute_backward(const at::Tensor& gradient, ExpertActivations& kept) const {
  return reordered(kept.products.backward(reordered(gradient, kept.exchange.sorted)), kept.exchange.arrived);
}

at::Tensor Experts::send_backward(const at::Tensor& gradient, ExpertActivations& kept, double balance) const {
  at::Tensor sum = from_rows(gradient, kept.order), whole = sum;  // sum: at what is routed here
  if (shared_.up.value.defined()) {
    if (!kept.shared.is_recorded()) {
      const Answering repeats(kept.answers, Answering::How::Repeat);
      kept.shared.forward(kept.normalized, [&](const at::Tensor& x) { return shared(x); });
    }
    const at::Tensor of_shared = kept.shared.backward(std::exchange(kept.output_gradient, {}));
    whole = stretches_ == 1 ? sum.add_(of_shared) : of_shared;
    sum = stretches_ == 1 ? sum : routed(of_shared).add_(sum);
  }
  const RoutingGradient routing{.weights = std::exchange(kept.weight_gradient, {}), .balance = balance};
  const at::Tensor logits = route_backward(kept.routing, routing, form_).to(sum.scalar_type());
  sum.addmm_(logits, router_.value);
  const at::Tensor input = std::exchange(kept.normalized, {});
  PutOff::sum_or_keep({.output_gradient = logits,
                       .input = input.defined() ? routed(input) : input,
                       .weight = router_.gradient,
                       .bias = router_bias_.gradient});
  return whole;
}

}  // namespace executor
