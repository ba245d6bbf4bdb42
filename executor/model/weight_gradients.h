// Gradients of linear weights that a schedule puts off (zero bubble): a backward gives the gradient of its input at once, and leaves here what
// those of the weights are made of. Sums of a weight come in the order of its microbatches, so that the bits are those of a backward in one piece.
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <optional>
#include <vector>

#include "executor/model/leaf.h"

namespace executor {

class WeightGradients {
 public:
  // y = x W^T (+ b): W's gradient += y's^T x, b's += the sum of y's over tokens. A tensor that is given must not be written to afterwards.
  struct Product {
    at::Tensor output_gradient, input;                      // [tokens, outputs], [tokens, inputs]
    at::Tensor weight, bias;                                // the places of the gradients; without a bias, or frozen: none
    double bias_share = 1;                                  // of the bias's: other ranks have the rest
    std::shared_ptr<const ScaledProduct> scaled = nullptr;  // W's: of rounded tensors
    ScaledProduct::Agreed agreed = {};                      // where ranks have agreed on their scales
    at::Tensor ends = {};                                   // of matrices that stand one below the other: where the rows of each end
  };
  void add(Product product) { products_.push_back(std::move(product)); }
  bool is_empty() const { return products_.empty(); }
  void perform();  // all of them, and forgets them

  static void sum(const Product& product);

 private:
  std::vector<Product> products_;
};

// While it lives, backwards of this thread, wherever LibTorch runs them, put their weight gradients off into `later`; nullptr: as without it.
class PutOff {
 public:
  // Entering: only products that read what their piece was given, whose input gradients are a piece's last ones.
  enum class Products : std::uint8_t { All, Entering };
  explicit PutOff(WeightGradients* later, Products products = Products::All);
  PutOff(const PutOff&) = delete;
  PutOff& operator=(const PutOff&) = delete;

  static void sum_or_keep(WeightGradients::Product product, bool enters = false);

 private:
  std::optional<c10::DebugInfoGuard> guard_;
};

}  // namespace executor
