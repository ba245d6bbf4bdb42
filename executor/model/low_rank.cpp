#include "executor/model/low_rank.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "executor/model/linear.h"
#include "executor/model/weight_gradients.h"

namespace executor {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What the backward needs beside tensors of the graph.
struct AdaptedProduct : torch::CustomClassHolder {
  Leaf weight, bias;
  LowRank adapter;
  at::Tensor narrow;  // h
};

// Calls each(rows of B, columns of the output, columns of h).
struct Part {
  std::int64_t row = 0, column = 0, outputs = 0, first = 0;
};
template <class Each>
void for_each_block(const LowRank& adapter, const Each& each) {
  const std::int64_t rank = adapter.up.value.size(1);
  Part part;
  for (std::size_t at = 0; at < adapter.blocks.size(); ++at) {
    part.column = adapter.blocks[at].begin;
    part.outputs = adapter.blocks[at].outputs;
    part.first = adapter.pairs == 1 ? 0 : static_cast<std::int64_t>(at) * rank;
    each(part);
    part.row += part.outputs;
  }
}

struct AdaptedFunction : torch::autograd::Function<AdaptedFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const Leaf& weight, const Leaf& bias,
                            const LowRank& adapter) {
    auto product = c10::make_intrusive<AdaptedProduct>();
    const at::Tensor transposed = weight.value.detach().t(), up = adapter.up.value.detach(), x = input.detach();
    product->narrow = at::mm(x, adapter.down.value.detach().t());
    if (adapter.scale != 1) product->narrow.mul_(adapter.scale);
    const at::Tensor output = bias.value.defined() ? at::addmm(bias.value.detach(), x, transposed) : at::mm(x, transposed);
    for_each_block(adapter, [&](const Part& part) {
      output.narrow(1, part.column, part.outputs)
          .addmm_(product->narrow.narrow(1, part.first, up.size(1)), up.narrow(0, part.row, part.outputs).t());
    });
    context->save_for_backward({input});
    product->weight = weight;
    product->bias = bias;
    product->adapter = adapter;
    context->saved_data["product"] = c10::IValue::make_capsule(std::move(product));
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto product = c10::static_intrusive_pointer_cast<AdaptedProduct>(context->saved_data["product"].toCapsule());
    context->saved_data.clear();
    const at::Tensor gradient = gradients.front(), x = context->get_saved_variables().front().detach();
    const LowRank& adapter = product->adapter;
    const at::Tensor up = adapter.up.value.detach(), narrow = at::zeros_like(product->narrow);
    for_each_block(adapter, [&](const Part& part) {
      const at::Tensor mine = gradient.narrow(1, part.column, part.outputs);
      narrow.narrow(1, part.first, up.size(1)).addmm_(mine, up.narrow(0, part.row, part.outputs));
      PutOff::sum_or_keep({.output_gradient = mine,
                           .input = product->narrow.narrow(1, part.first, up.size(1)),
                           .weight = adapter.up.gradient.narrow(0, part.row, part.outputs),
                           .bias = {}});
    });
    if (adapter.scale != 1) narrow.mul_(adapter.scale);
    at::Tensor input_gradient = at::mm(gradient, product->weight.value.detach());
    input_gradient.addmm_(narrow, adapter.down.value.detach());
    PutOff::sum_or_keep({.output_gradient = narrow, .input = x, .weight = adapter.down.gradient, .bias = {}});
    PutOff::sum_or_keep({.output_gradient = gradient, .input = x, .weight = product->weight.gradient, .bias = product->bias.gradient});
    return {input_gradient, {}, {}, {}};
  }
};

}  // namespace

at::Tensor adapted_linear(const at::Tensor& input, const Leaf& weight, const Leaf& bias, const LowRank& adapter) {
  return adapter.is_there() ? AdaptedFunction::apply(input, weight, bias, adapter) : linear(input, weight, bias);
}

}  // namespace executor
