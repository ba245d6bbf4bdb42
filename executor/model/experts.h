// The core of a feed-forward made of experts, in the pieces between which ranks exchange rows: what a block's Mlp is in one piece (segment.h).
//
//   forward    send: normalized -> router, rows of tokens | [exchange] | compute: rows by the experts here | [exchange] | combine: weighted sum
//   backward   combine_backward | [exchange] | compute_backward | [exchange] | send_backward
//
// Shared experts take every token, while the others' rows are away. With tensor ranks all but the routing are parts of a sum over them: what is
// put out, and the gradients at the input and at the router's weights. Where tensor ranks do not cut experts, each routes its own stretch of the
// tokens alone: what comes of that is whole, and stands in its place of what shared experts put out.
#pragma once

#include "executor/kernels/gpu_operators.h"
#include "executor/model/activation.h"
#include "executor/model/made_again.h"
#include "executor/model/piece.h"
#include "executor/model/segment.h"
#include "executor/model/token_exchange.h"
#include "executor/model/token_order.h"

namespace executor {

// What is kept of one microbatch from task to task.
struct ExpertActivations {
  at::Tensor normalized;  // [tokens, hidden]
  Routing routing;
  TokenOrder order;
  at::Tensor told;  // rows of all ranks for all experts, on the host: what runs again asks nobody
  TokenExchange exchange;
  Piece shared, products;
  at::Tensor shared_output;    // [tokens, hidden], until the sum
  at::Tensor returned;         // [rows, hidden] as experts gave them back: the gradient of their weights reads them
  at::Tensor output_gradient;  // [tokens, hidden], for the shared experts
  at::Tensor weight_gradient;  // [tokens, k], for the router
  MadeAgain again;             // of the products, before their backward
  RankAnswers answers;         // of shared experts that are made again
};

// Whether one product takes the rows of all experts (at::_grouped_mm), which reads on the card where each one's end: no expert has a bias, and the operator
// takes their numbers.
struct ExpertNumbers {
  at::ScalarType type;
  Card card;
};
bool multiplies_at_once(const sim::ModelConfig& config, const TensorPosition& tensor, ExpertNumbers numbers);
// Whether the host need not know how many rows each has, either: none leaves for another rank, and a device can order them.
bool orders_on_card(const sim::ModelConfig& config, const TensorPosition& tensor, ExpertNumbers numbers);

class Experts {
 public:
  Experts(const sim::ModelConfig& config, const LayerParts& layer, TensorPosition tensor = {});

  const sim::ExpertForm& form() const { return form_; }
  bool multiplies_at_once() const { return multiplies_at_once_; }
  // Rows by expert. records: the graphs of the pieces are kept for a backward.
  struct Recording {
    bool on = true;
  };
  at::Tensor send(const at::Tensor& normalized, ExpertActivations& kept, Recording records) const;
  at::Tensor compute(const at::Tensor& arrived, ExpertActivations& kept, Recording records) const;
  at::Tensor combine(at::Tensor returned, ExpertActivations& kept) const;

  at::Tensor combine_backward(const at::Tensor& gradient, ExpertActivations& kept) const;  // at the rows
  at::Tensor compute_backward(const at::Tensor& gradient, ExpertActivations& kept) const;
  // balance: how much the auxiliary loss of these tokens counts. Returns the gradient at the normalized stream.
  at::Tensor send_backward(const at::Tensor& gradient, ExpertActivations& kept, double balance) const;

 private:
  struct Products {  // leaves without tensors where there are none
    Leaf up, down;
    Leaf up_bias = {}, down_bias = {};
  };
  at::Tensor activated(const at::Tensor& up) const;
  at::Tensor shared(const at::Tensor& normalized) const;
  at::Tensor routed(const at::Tensor& tokens) const;  // of all that came in, those that this rank routes

  sim::ExpertForm form_;
  GateForm gate_;
  bool gated_, orders_there_, multiplies_at_once_;
  double share_;  // of a bias that each tensor rank adds to its part of a sum
  Leaf router_, router_bias_, correction_, shared_gate_;
  std::int64_t stretches_, stretch_;  // of what comes in, and which is routed here
  Products products_, shared_;
};

}  // namespace executor
