// One matrix stepped by Muon: its momentum, made orthogonal by five Newton-Schulz steps, is the update (Jordan et al., "Muon: An optimizer for hidden
// layers in neural networks", 2024). Works on matrices as given, by LibTorch's products, wherever they are; the bits of a matrix do not depend on who has it.
#pragma once

#include <ATen/core/Tensor.h>

namespace executor {

struct MuonMatrix {
  at::Tensor master;    // [rows, columns], stepped in place: fp32 or fp64
  at::Tensor gradient;  // the same shape, of any floating type
  at::Tensor momentum;  // of the master's type; zero before the first step
  at::Tensor rounded;   // 16-bit weights, written from the master; without a tensor where the master is what is used
};
struct MuonSettings {
  double learning_rate = 0, momentum = 0, weight_decay = 0;
  double gradient_factor = 1;
  at::Tensor factor_there = {};  // the same on the matrix's device, in its place: nobody waits for it
  bool may_skip = false;         // fp16: where factor_there is negative, nothing is stepped
};

// Near to U V^T of a [rows, columns] matrix U S V^T: singular values come to between 0.7 and 1.2. A matrix of zeros stays so.
at::Tensor orthogonalized(const at::Tensor& matrix);

// g scaled;  m = momentum * m + g;  u = g + momentum * m;  w -= lr * decay * w;  w -= lr * sqrt(max(1, rows / columns)) * orthogonalized(u)
void step_muon(const MuonMatrix& matrix, const MuonSettings& settings);

}  // namespace executor
