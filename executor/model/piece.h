// One stretch of the model that autograd records by itself and whose backward the executor calls by itself, when the plan says so.
// The input is detached, so that nothing outside the piece hangs on its graph; of the output only the graph's edge is kept, so that its
// memory may be freed, sent away or overwritten.
//
//     x --detach--> leaf --[ function ]--> output ......> kept by the caller as plain data
//     gradient at x <------ backward(gradient at output)     (gradients of parameters are added to their leaves on the way)
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/edge.h>

#include <functional>

namespace executor {

class Piece {
 public:
  using Function = std::function<at::Tensor(const at::Tensor& input)>;

  // Returns the output without its graph; the graph stays here.
  at::Tensor forward(const at::Tensor& input, const Function& function);
  // Frees the graph. Returns the gradient at the input.
  at::Tensor backward(const at::Tensor& output_gradient);
  bool is_recorded() const { return edge_.is_valid(); }

 private:
  at::Tensor leaf_;
  torch::autograd::Edge edge_;
};

}  // namespace executor
