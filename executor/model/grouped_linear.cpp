#include "executor/model/grouped_linear.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/_grouped_mm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "executor/model/gradient_place.h"
#include "executor/model/linear.h"
#include "executor/model/weight_gradients.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Expert {
  std::int64_t number = 0, first_row = 0, rows = 0;
  std::size_t product = 0;  // among all
  at::Tensor rows_of(const at::Tensor& all) const { return all.narrow(0, first_row, rows); }
  at::Tensor part_of(const at::Tensor& weights, std::int64_t outputs) const {
    return weights.defined() ? weights.narrow(0, number * outputs, outputs) : at::Tensor();
  }
};

// Each product has operands, and so scales, of its own; delayed ones are of the products of all.
struct GroupedProduct : torch::CustomClassHolder {
  GroupedProduct(const GroupedWeights& of_weights, RowCounts of_rows)
      : weight(of_weights.weight), counts(std::move(of_rows)), stretches(of_weights.stretches), agreed(counts.size()) {}
  Leaf weight;
  RowCounts counts;
  std::int64_t stretches;
  std::vector<ScaledProduct::Agreed> agreed;

  std::int64_t outputs() const { return weight.value.size(0) * stretches / static_cast<std::int64_t>(counts.size()); }
  Leaf of(const Expert& expert) const {
    return {.value = expert.part_of(weight.value.detach(), outputs()), .gradient = {}, .scaled = weight.scaled};
  }
  template <class Each>
  void for_each(const Each& each) const {
    Expert expert;
    for (; expert.product < counts.size(); ++expert.product) {
      expert.number = static_cast<std::int64_t>(expert.product) / stretches;
      expert.rows = counts[expert.product];
      each(expert);
      expert.first_row += expert.rows;
    }
  }
  template <class Each>
  void for_each_with_rows(const Each& each) const {
    for_each([&](const Expert& expert) {
      if (expert.rows > 0) each(expert);
    });
  }
  // Of all products in one message, whether or not they have rows.
  std::vector<ScaledProduct::Read> read(const at::Tensor& rows) const {
    std::vector<ScaledProduct::Read> all;
    for_each([&](const Expert& expert) { all.push_back({expert.rows_of(rows), of(expert).value}); });
    return all;
  }
};

struct GroupedLinearFunction : torch::autograd::Function<GroupedLinearFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const GroupedWeights& grouped, const RowCounts& counts) {
    const Leaf &weight = grouped.weight, &bias = grouped.bias;
    if (weight.gradient.defined()) context->save_for_backward({input});
    auto product = c10::make_intrusive<GroupedProduct>(grouped, counts);
    context->saved_data["bias_gradient"] = bias.gradient;
    context->saved_data["share"] = grouped.share;
    const std::int64_t outputs = product->outputs();
    const at::Tensor result = at::empty({input.size(0), outputs}, input.options());
    if (weight.scaled) weight.scaled->agree_forward(product->agreed, product->read(input));
    product->for_each_with_rows([&](const Expert& expert) {
      at::Tensor rows = expert.rows_of(result);
      const Leaf own = product->of(expert);
      if (own.scaled)
        rows.copy_(forward_product(expert.rows_of(input), own, {}, product->agreed.at(expert.product), Agreement::Known));
      else
        at::mm_out(rows, expert.rows_of(input), own.value.t());
      if (bias.value.defined()) rows.add_(expert.part_of(bias.value.detach(), outputs), grouped.share);
    });
    context->saved_data["product"] = c10::IValue::make_capsule(std::move(product));
    return result;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor& gradient = gradients.front();
    const variable_list saved = context->get_saved_variables();
    const auto product = c10::static_intrusive_pointer_cast<GroupedProduct>(context->saved_data["product"].toCapsule());
    const at::Tensor input = saved.empty() ? at::Tensor() : saved.front().detach(), weight_gradient = product->weight.gradient,
                     input_gradient = at::empty({gradient.size(0), product->weight.value.size(1)}, gradient.options());
    const at::Tensor bias_gradient = context->saved_data["bias_gradient"].toTensor();
    const double share = context->saved_data["share"].toDouble();
    for (const at::Tensor& sum : {weight_gradient, bias_gradient}) started(sum);  // experts add to their parts
    if (product->weight.scaled) product->weight.scaled->agree_backward(product->agreed, product->read(gradient));
    product->for_each_with_rows([&](const Expert& expert) {
      const at::Tensor mine = expert.rows_of(gradient);
      at::Tensor rows = expert.rows_of(input_gradient);
      const Leaf own = product->of(expert);
      ScaledProduct::Agreed& agreed = product->agreed.at(expert.product);
      if (own.scaled)
        rows.copy_(backward_product(mine, own, agreed, Agreement::Known));
      else
        at::mm_out(rows, mine, own.value);
      PutOff::sum_or_keep({.output_gradient = mine,
                           .input = input.defined() ? expert.rows_of(input) : input,
                           .weight = expert.part_of(weight_gradient, gradient.size(1)),
                           .bias = expert.part_of(bias_gradient, gradient.size(1)),
                           .bias_share = share,
                           .scaled = own.scaled,
                           .agreed = agreed});
    });
    return {input_gradient, at::Tensor(), at::Tensor()};
  }
};

// One below the other -> [experts, outputs, inputs].
at::Tensor matrices(const at::Tensor& weights, const at::Tensor& ends) { return weights.view({ends.numel(), -1, weights.size(1)}); }

struct GroupedLinearToFunction : torch::autograd::Function<GroupedLinearToFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const Leaf& weight, const at::Tensor& ends) {
    if (weight.gradient.defined()) context->save_for_backward({input});
    context->saved_data["weight"] = weight.value.detach();
    context->saved_data["weight_gradient"] = weight.gradient;
    context->saved_data["ends"] = ends;
    return at::_grouped_mm(input.detach(), matrices(weight.value.detach(), ends).transpose(1, 2), ends);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor gradient = gradients.front().contiguous(), ends = context->saved_data["ends"].toTensor();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor input_gradient = at::_grouped_mm(gradient, matrices(context->saved_data["weight"].toTensor(), ends), ends);
    PutOff::sum_or_keep({.output_gradient = gradient,
                         .input = saved.empty() ? at::Tensor() : saved.front().detach(),
                         .weight = context->saved_data["weight_gradient"].toTensor(),
                         .bias = {},
                         .ends = ends});
    return {input_gradient, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor grouped_linear_to(const at::Tensor& rows, const Leaf& weight, const at::Tensor& ends) {
  return GroupedLinearToFunction::apply(rows, weight, ends);
}

at::Tensor grouped_linear(const at::Tensor& rows, const GroupedWeights& weights, const RowCounts& counts) {
  return GroupedLinearFunction::apply(rows, weights, counts);
}

}  // namespace executor
