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
#include <utility>
#include <vector>

#include "executor/kernels/eight_bits.h"
#include "sim/plan/scaled_products.h"

namespace executor {

// fp32 [3], by sim::Operand, of delayed scales: what this step has seen so far, and what its scales are made of (0: a scale of 1). Views.
struct DelayedMaxima {
  at::Tensor seen, before;
};

// What ranks say to each other inside a computation: each makes a row of numbers that of all of them, in place, and goes on with the next exchange that the
// plan has there (sim/plan/scaled_products.h).
struct RankQuestions {
  std::function<void(const at::Tensor&)> largest, sum;
  std::function<at::Tensor()> tiles_of_rows;  // int64: which of the microbatch's tiles of tokens each row here is in
};

// What ranks have answered in front of products that are made again: nobody asks twice. Products of this thread, in their order.
struct RankAnswers {
  std::vector<at::Tensor> all;
  std::size_t repeated = 0;
};
class Answering {
 public:
  enum class How : std::uint8_t { Keep, Repeat };
  Answering(RankAnswers& answers, How how) : before_(std::exchange(current_, this)), answers_(answers), how_(how) {}
  ~Answering() { current_ = before_; }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;
  static at::Tensor answer(const std::function<at::Tensor()>& ask);

 private:
  static thread_local Answering* current_;
  Answering* before_;
  RankAnswers& answers_;
  How how_;
};

// Where ranks have parts of what shares a scale.
struct ScaleAgreement {
  sim::TensorSplit split = sim::TensorSplit::None;  // how ranks cut the weight
  bool cuts_tokens = false;                         // other ranks have rows of the same product
  std::int64_t tiles_of_tokens = 0;                 // of all ranks, where tiles are cut
  std::int64_t microbatches = 1, microbatch = 0;    // that ranks which are asked for rows compute at once; whose are here
  double share = 1;  // all ranks make the product: the gradient of y is summed over them first, and each gives so much
  std::shared_ptr<const RankQuestions> ranks = nullptr;  // none: nobody else is asked
};

class ScaledProduct {
 public:
  explicit ScaledProduct(sim::ScaleRecipe recipe, DelayedMaxima maxima = {}, ScaleAgreement agreement = {})
      : recipe_(recipe), maxima_(std::move(maxima)), agreement_(std::move(agreement)) {}

  enum class Along : std::uint8_t { Rows, Columns };  // what the product sums over: down the rows, or along the columns
  // Largest magnitudes that ranks have agreed on, by operand and what is summed over; no tensor: this rank's are all. Of tiles that ranks cut: of all of
  // them, and which one each row is in.
  struct Agreed {
    std::array<std::array<at::Tensor, 2>, sim::kNumOperands> largest;
    at::Tensor tiles_of_rows;
  };
  struct Read {
    at::Tensor rows, weight;  // of x, or of the gradient of y, which may be none
  };
  // Of several products in one message: in front of y, or of dx and dW.
  void agree_forward(std::span<Agreed> agreed, const std::vector<Read>& products) const;
  void agree_backward(std::span<Agreed> agreed, const std::vector<Read>& products) const;
  // The gradient of y that is rounded, of this rank's part of it; and this rank's share of what it makes.
  at::Tensor whole_gradient(const at::Tensor& part) const;
  at::Tensor share_of(at::Tensor made) const { return agreement_.share == 1 ? made : made.mul_(agreement_.share); }
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
  at::Tensor largest(const at::Tensor& numbers, sim::Operand which, Along along, const Agreed& agreed = {}) const;
  struct Asked {
    sim::Operand which;
    Along along;
  };
  // Of ranks that have other parts of the weight, and then of those that have other rows.
  std::vector<Asked> asked_for_weights(bool is_forward) const;
  std::vector<Asked> asked_for_rows(sim::Operand which) const;
  enum class Whom : std::uint8_t { OtherWeights, OtherRows };
  void ask(Whom whom, std::span<Agreed> agreed, const std::vector<Read>& products, const std::vector<Asked>& each) const;
  at::Tensor answered(Whom whom, const at::Tensor& own) const;
  bool is_cut_into_tiles(sim::Operand which, Along along) const {
    return agreement_.cuts_tokens && agreement_.tiles_of_tokens > 0 && which != sim::Operand::Weight && along == Along::Rows;
  }
  at::Tensor largest_of_cut_tiles(const at::Tensor& numbers, const at::Tensor& tiles_of_rows) const;

  sim::ScaleRecipe recipe_;
  DelayedMaxima maxima_;
  ScaleAgreement agreement_;
};

}  // namespace executor
