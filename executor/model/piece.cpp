#include "executor/model/piece.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

namespace executor {

at::Tensor Piece::forward(const at::Tensor& input, const Function& function) {
  const c10::AutoGradMode record(true);
  leaf_ = input.detach().requires_grad_();
  const at::Tensor output = function(leaf_);
  edge_ = torch::autograd::impl::gradient_edge(output);
  // Held by the graph's end and here alone: nobody reads its numbers again, as behind frozen products.
  constexpr std::size_t kByNobody = 2;
  if (leaf_.use_count() == kByNobody) leaf_.unsafeGetTensorImpl()->set_storage_keep_dtype(c10::Storage::create_legacy(leaf_.device()));
  return output.detach();
}

at::Tensor Piece::backward(const at::Tensor& output_gradient) {
  const torch::autograd::edge_list roots{std::exchange(edge_, {})};
  torch::autograd::Engine::get_default_engine().execute(roots, {output_gradient}, /*keep_graph=*/false, /*create_graph=*/false,
                                                        /*accumulate_grad=*/true);
  const at::Tensor leaf = std::exchange(leaf_, {});
  return leaf.grad();
}

}  // namespace executor
