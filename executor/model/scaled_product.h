// The operands of y = x W^T, of dx = dy W and of dW = dy^T x, rounded to 8 bit before they are multiplied; which numbers share a scale, a recipe says
// (sim/cluster/scale_recipe.h). The products are made in fp32, of fp64 numbers in fp64: a matrix unit sums in fp32, too. Where a
// GPU has 8-bit units for a recipe (all on Hopper but mx, which is Blackwell's), they make the product of the same rounded numbers.
//
//   delayed     one a tensor, of maxima of steps before       inputs and weights e4m3, gradients e5m2 (Transformer Engine's hybrid)
//   tensorwise  one a tensor                                  the same
//   rowwise     one a row, along what is summed over          e4m3, powers of two (torchao)
//   blockwise   128 along what is summed over, 128 x 128 of W e4m3 (DeepSeek-V3)
//   mx          32 along what is summed over                  e4m3, shared exponents
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "executor/kernels/eight_bits.h"
#include "sim/plan/scaled_products.h"

namespace executor {

// fp32 [3], by sim::Operand, of delayed scales: what this step has seen so far, and what its scales are made of (0: a scale of 1). Views.
struct DelayedMaxima {
  at::Tensor seen, before;
};

// Where tensor ranks have parts of what shares a scale, or context ranks parts of the tokens (sim/plan/scaled_products.h): how the weight is cut, and what
// makes a row of numbers the largest of all ranks, in place.
struct ScaleAgreement {
  sim::TensorSplit split = sim::TensorSplit::None;
  bool cuts_tokens = false;
  std::shared_ptr<const std::function<void(const at::Tensor&)>> largest_of_ranks = nullptr;  // none: nobody else is asked
};

class ScaledProduct {
 public:
  explicit ScaledProduct(sim::ScaleRecipe recipe, DelayedMaxima maxima = {}, ScaleAgreement agreement = {})
      : recipe_(recipe), maxima_(std::move(maxima)), agreement_(std::move(agreement)) {}

  enum class Along : std::uint8_t { Rows, Columns };  // what the product sums over: down the rows, or along the columns
  // Largest magnitudes that ranks have agreed on, by operand and what is summed over; no tensor: this rank's are all.
  using Agreed = std::array<std::array<at::Tensor, 2>, sim::kNumOperands>;
  struct Read {
    at::Tensor rows, weight;  // of x, or of the gradient of y, which may be none
  };
  // Of several products in one message: in front of y, or of dx and dW.
  void agree_forward(std::span<Agreed> agreed, const std::vector<Read>& products) const { ask(agreed, products, asked_forward()); }
  void agree_backward(std::span<Agreed> agreed, const std::vector<Read>& products) const { ask(agreed, products, asked_backward()); }
  // Scales are of what is multiplied here: products with other scales are to be made one by one.
  bool scales_what_it_reads() const { return recipe_ != sim::ScaleRecipe::Delayed; }
  // numbers [rows, columns] of any floating type -> fp32 or fp64.
  at::Tensor operand(const at::Tensor& numbers, sim::Operand which, Along along, const Agreed& agreed = {}) const;

  struct Factor {
    at::Tensor numbers;  // [m, k] where it is summed along its columns, else [k, m]
    sim::Operand which;
    Along along;
  };
  // left by right, [m, n], of the units of 8 bit in `type`, or of rows in bf16; no tensor where there is none that takes them.
  at::Tensor by_unit(const Factor& left, const Factor& right, at::ScalarType type) const;
  at::Tensor unit_product(const Factor& left, const Factor& right, at::ScalarType type) const;  // whether or not by_unit() would ask for it

 private:
  bool is_rowwise() const { return recipe_ == sim::ScaleRecipe::Rowwise; }
  UnitOperand unit_operand(const Factor& of) const;
  Tile tile_of(sim::Operand which, Along along) const;
  at::Tensor magnitudes(const at::Tensor& numbers, sim::Operand which, Along along,
                        const Agreed& agreed = {}) const;  // that scales are made of
  at::Tensor scales(const at::Tensor& numbers, sim::Operand which, Along along, const Agreed& agreed = {}) const;
  at::Tensor largest(const at::Tensor& numbers, sim::Operand which, Along along) const;
  struct Asked {
    sim::Operand which;
    Along along;
  };
  std::vector<Asked> asked_forward() const;
  std::vector<Asked> asked_backward() const;
  void ask(std::span<Agreed> agreed, const std::vector<Read>& products, const std::vector<Asked>& each) const;

  sim::ScaleRecipe recipe_;
  DelayedMaxima maxima_;
  ScaleAgreement agreement_;
};

}  // namespace executor
