#include "executor/model/linear.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include "executor/model/weight_gradients.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct PlainProduct : torch::CustomClassHolder {
  Leaf weight, bias;
  ScaledProduct::Agreed agreed;
};

using Along = ScaledProduct::Along;
using Agreed = ScaledProduct::Agreed;

at::Tensor rounded_operand(const ScaledProduct& scaled, const ScaledProduct::Factor& of, const Agreed& agreed) {
  return scaled.operand(of.numbers, of.which, of.along, agreed);
}

}  // namespace

at::Tensor forward_product(const at::Tensor& input, const Leaf& weight, const Leaf& bias, Agreed& agreed, Agreement agreement) {
  if (!weight.scaled) {
    const at::Tensor transposed = numbers_of(weight).t();
    return bias.value.defined() ? at::addmm(bias.value.detach(), input, transposed) : at::mm(input, transposed);
  }
  const ScaledProduct& scaled = *weight.scaled;
  const ScaledProduct::Factor left{input, sim::Operand::Input, Along::Columns},
      right{numbers_of(weight), sim::Operand::Weight, Along::Columns};
  if (agreement == Agreement::Asked) scaled.agree_forward({&agreed, 1}, {{input, right.numbers}});
  at::Tensor product = scaled.by_unit(left, right, input.scalar_type());
  if (!product.defined())
    product = at::mm(rounded_operand(scaled, left, agreed), rounded_operand(scaled, right, agreed).t()).to(input.scalar_type());
  return bias.value.defined() ? product.add_(bias.value.detach()) : product;
}

at::Tensor backward_product(const at::Tensor& gradient, const Leaf& weight, Agreed& agreed, Agreement agreement) {
  if (!weight.scaled) return at::mm(gradient, numbers_of(weight));
  const ScaledProduct& scaled = *weight.scaled;
  const ScaledProduct::Factor left{gradient, sim::Operand::OutputGradient, Along::Columns},
      right{numbers_of(weight), sim::Operand::Weight, Along::Rows};
  if (agreement == Agreement::Asked) scaled.agree_backward({&agreed, 1}, {{gradient, right.numbers}});
  at::Tensor product = scaled.by_unit(left, right, gradient.scalar_type());
  if (!product.defined())
    product = at::mm(rounded_operand(scaled, left, agreed), rounded_operand(scaled, right, agreed)).to(gradient.scalar_type());
  return scaled.share_of(std::move(product));
}

namespace {

// The weight is no input of the function: its gradient is ours to write.
struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const Leaf& weight, const Leaf& bias) {
    if (weight.gradient.defined()) context->save_for_backward({input});
    auto product = c10::make_intrusive<PlainProduct>();
    product->weight = weight;
    product->bias = bias;
    at::Tensor output = forward_product(input, weight, bias, product->agreed);
    context->saved_data["product"] = c10::IValue::make_capsule(std::move(product));
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto product = c10::static_intrusive_pointer_cast<PlainProduct>(context->saved_data["product"].toCapsule());
    const Leaf& weight = product->weight;
    const at::Tensor gradient = weight.scaled ? weight.scaled->whole_gradient(gradients.front()) : gradients.front();
    const at::Tensor input_gradient = backward_product(gradient, weight, product->agreed);
    PutOff::sum_or_keep(
        {.output_gradient = gradient,
         .input = saved.empty() ? at::Tensor() : saved.front().detach(),  // without the graph that made it, and all that this holds
         .weight = weight.gradient,
         .bias = product->bias.gradient,
         .scaled = weight.scaled,
         .agreed = product->agreed},
        !saved.empty() && saved.front().is_leaf());
    return {input_gradient, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor linear(const at::Tensor& input, const Leaf& weight, const Leaf& bias) { return LinearFunction::apply(input, weight, bias); }

}  // namespace executor
