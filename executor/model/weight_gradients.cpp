#include "executor/model/weight_gradients.h"

#include <ATen/ops/_grouped_mm.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>

#include <utility>

#include "executor/kernels/gpu_operators.h"
#include "executor/model/gradient_place.h"

namespace executor {
namespace {

// LibTorch runs the backward of a GPU's operators on a thread of its own, and takes such values of the one that asks for it along.
constexpr c10::DebugInfoKind kDestinationKind = c10::DebugInfoKind::PRODUCER_INFO;  // of no other use here
struct Destination : c10::DebugInfoBase {
  Destination(WeightGradients& into, PutOff::Products whose) : later(into), products(whose) {}
  WeightGradients& later;
  PutOff::Products products;
};

// A matrix without rows gets nothing: what the operator leaves in its place is not asked.
void add_to_matrices(const WeightGradients::Product& product) {
  const std::int64_t groups = product.ends.numel();
  at::Tensor products = at::_grouped_mm(product.output_gradient.t(), product.input, product.ends);
  const at::Tensor begins = at::constant_pad_nd(product.ends.narrow(0, 0, groups - 1), {1, 0});
  products.masked_fill_(product.ends.eq(begins).view({groups, 1, 1}), 0.0);
  add_gradient(product.weight, products.view(product.weight.sizes()));
}

void add_to_weight(const WeightGradients::Product& product) {
  if (product.ends.defined()) return add_to_matrices(product);
  if (!product.scaled) return add_product(product.weight, product.output_gradient.t(), product.input);
  constexpr ScaledProduct::Along kRows = ScaledProduct::Along::Rows;
  const at::Tensor by_unit = product.scaled->by_unit({product.output_gradient, sim::Operand::OutputGradient, kRows},
                                                     {product.input, sim::Operand::Input, kRows}, at::kFloat);
  if (by_unit.defined()) return add_gradient(product.weight, product.scaled->share_of(by_unit));
  const at::Tensor gradient = product.scaled->operand(product.output_gradient, sim::Operand::OutputGradient, kRows, product.agreed);
  add_product(product.weight, product.scaled->share_of(gradient).t(),
              product.scaled->operand(product.input, sim::Operand::Input, kRows, product.agreed));
}

void add_sum_of_rows(const at::Tensor& gradient, const at::Tensor& rows, double share) {
  const bool may_be_written = share == 1 && gradient.scalar_type() == rows.scalar_type();
  if (!may_be_written || !takes_first(gradient)) return add_gradient(gradient, rows.sum(0), share);
  at::Tensor sum = gradient;
  at::sum_out(sum, rows, 0);
}

}  // namespace

void add_product(const at::Tensor& gradient, const at::Tensor& a, const at::Tensor& b) {
  at::Tensor sum = gradient;
  const bool is_same = gradient.scalar_type() == a.scalar_type();
  if (!is_same && !adds_unrounded(card_of(a.device()), {.product = a.scalar_type(), .sum = gradient.scalar_type()}))
    return add_gradient(gradient, at::mm(a, b));
  if (takes_first(gradient))
    is_same ? at::mm_out(sum, a, b) : at::mm_out(sum, a, b, gradient.scalar_type());
  else
    is_same ? at::addmm_out(sum, gradient, a, b) : at::addmm_out(sum, gradient, a, b, gradient.scalar_type());
}

void WeightGradients::sum(const Product& product) {
  if (product.weight.defined()) add_to_weight(product);
  if (product.bias.defined()) add_sum_of_rows(product.bias, product.output_gradient, product.bias_share);
}

void WeightGradients::perform() {
  for (const Product& product : std::exchange(products_, {})) sum(product);
}

PutOff::PutOff(WeightGradients* later, Products products) {
  if (later != nullptr) guard_.emplace(kDestinationKind, std::make_shared<Destination>(*later, products));
}

void PutOff::sum_or_keep(WeightGradients::Product product, bool enters) {
  if (!product.weight.defined() && !product.bias.defined()) return;  // frozen
  const auto* place = static_cast<const Destination*>(c10::ThreadLocalDebugInfo::get(kDestinationKind));
  if (place != nullptr && (enters || place->products == Products::All))
    place->later.add(std::move(product));
  else
    WeightGradients::sum(product);
}

}  // namespace executor
