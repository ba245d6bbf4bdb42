#include "executor/model/weight_gradients.h"

#include <ATen/ops/sum.h>

#include <utility>

namespace executor {
namespace {

// Not thread_local: LibTorch runs the backward of a GPU's operators on a thread of its own, while the one that asked for it waits.
WeightGradients* current = nullptr;

void add_to_weight(const WeightGradients::Product& product) {
  if (!product.scaled) return add_product(product.weight, product.output_gradient.t(), product.input);
  constexpr ScaledProduct::Along kRows = ScaledProduct::Along::Rows;
  add_product(product.weight, product.scaled->operand(product.output_gradient, sim::Operand::OutputGradient, kRows).t(),
              product.scaled->operand(product.input, sim::Operand::Input, kRows));
}

}  // namespace

void WeightGradients::sum(const Product& product) {
  if (product.weight.defined()) add_to_weight(product);
  if (product.bias.defined()) product.bias.add_(product.output_gradient.sum(0), product.bias_share);
}

void WeightGradients::perform() {
  for (const Product& product : std::exchange(products_, {})) sum(product);
}

PutOff::PutOff(WeightGradients* later) : before_(std::exchange(current, later)) {}
PutOff::~PutOff() { current = before_; }

void PutOff::sum_or_keep(WeightGradients::Product product) {
  if (!product.weight.defined() && !product.bias.defined()) return;  // frozen
  if (current == nullptr)
    WeightGradients::sum(product);
  else
    current->add(std::move(product));
}

}  // namespace executor
