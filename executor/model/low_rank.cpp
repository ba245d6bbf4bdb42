#include "executor/model/low_rank.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "executor/model/gradient_place.h"
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
  PairMasks masks;
  at::Tensor narrow;  // h
  ScaledProduct::Agreed agreed;
};

bool drops(const PairMasks& masks) { return masks.front().probability > 0; }

// In the place of x, or of its gradient.
at::Tensor dropped(at::Tensor copy, const LowRank& adapter, Dropout mask) {
  if (copy.size(1) < adapter.inputs) {
    mask.columns = adapter.inputs;
    mask.first_column = adapter.first_input;
  }
  apply_dropout(copy, mask);
  return copy;
}

struct PairRows {  // of A, and columns of h
  std::int64_t first = 0, count = 0;
};
template <class Each>
void for_each_pair(const LowRank& adapter, const Each& each) {
  const std::int64_t rank = adapter.up.value.size(1);
  for (std::int64_t pair = 0; pair < adapter.pairs; ++pair)
    each(PairRows{.first = pair * rank, .count = rank}, static_cast<std::size_t>(pair));
}

// scale x A^T
at::Tensor narrowed(const at::Tensor& x, const AdaptedProduct& product) {
  const at::Tensor down = product.adapter.down.value.detach();
  if (!drops(product.masks)) return at::mm(x, down.t());
  at::Tensor narrow = at::empty({x.size(0), down.size(0)}, x.options());
  for_each_pair(product.adapter, [&](PairRows rows, std::size_t pair) {
    const at::Tensor read = dropped(x.clone(), product.adapter, product.masks.at(pair));
    narrow.narrow(1, rows.first, rows.count).copy_(at::mm(read, down.narrow(0, rows.first, rows.count).t()));
  });
  return narrow;
}

// Of A, and what goes on to x.
void narrow_backward(const at::Tensor& narrow, const at::Tensor& x, const AdaptedProduct& product, const at::Tensor& input_gradient) {
  const Leaf& leaf = product.adapter.down;
  const at::Tensor down = leaf.value.detach();
  if (!drops(product.masks)) {
    input_gradient.addmm_(narrow, down);
    return PutOff::sum_or_keep({.output_gradient = narrow, .input = x, .weight = leaf.gradient, .bias = {}});
  }
  for_each_pair(product.adapter, [&](PairRows rows, std::size_t pair) {
    const at::Tensor mine = narrow.narrow(1, rows.first, rows.count);
    input_gradient.add_(dropped(at::mm(mine, down.narrow(0, rows.first, rows.count)), product.adapter, product.masks.at(pair)));
    PutOff::sum_or_keep({.output_gradient = mine,
                         .input = dropped(x.clone(), product.adapter, product.masks.at(pair)),
                         .weight = started(leaf.gradient).narrow(0, rows.first, rows.count),
                         .bias = {}});
  });
}

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
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const Leaf& weight, const Leaf& bias, const LowRank& adapter,
                            const PairMasks& masks) {
    auto product = c10::make_intrusive<AdaptedProduct>();
    product->adapter = adapter;
    product->masks = masks;
    const at::Tensor up = adapter.up.value.detach(), x = input.detach();
    product->narrow = narrowed(x, *product);
    if (adapter.scale != 1) product->narrow.mul_(adapter.scale);
    const at::Tensor output = forward_product(x, weight, bias, product->agreed);
    for_each_block(adapter, [&](const Part& part) {
      output.narrow(1, part.column, part.outputs)
          .addmm_(product->narrow.narrow(1, part.first, up.size(1)), up.narrow(0, part.row, part.outputs).t());
    });
    context->save_for_backward({input});
    product->weight = weight;
    product->bias = bias;
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
                           .weight = started(adapter.up.gradient).narrow(0, part.row, part.outputs),
                           .bias = {}});
    });
    if (adapter.scale != 1) narrow.mul_(adapter.scale);
    at::Tensor input_gradient = backward_product(gradient, product->weight, product->agreed);
    narrow_backward(narrow, x, *product, input_gradient);
    PutOff::sum_or_keep({.output_gradient = gradient,
                         .input = x,
                         .weight = product->weight.gradient,
                         .bias = product->bias.gradient,
                         .scaled = product->weight.scaled,
                         .agreed = product->agreed});
    return {input_gradient, {}, {}, {}, {}};
  }
};

}  // namespace

at::Tensor adapted_linear(const at::Tensor& input, const Leaf& weight, const Leaf& bias, const LowRank& adapter, const PairMasks& masks) {
  return adapter.is_there() ? AdaptedFunction::apply(input, weight, bias, adapter, masks) : linear(input, weight, bias);
}

}  // namespace executor
