// Which experts a token goes to, and how much of each it takes: scores of all experts in fp32 (fp64 where the model is), the best k of them.
// Written out in both directions: the choice itself has no gradient, the weights of what was chosen have.
//
//   softmax   p = softmax(logits)    sigmoid   p = 1 / (1 + exp(-logits))         w = scaling p[chosen] (/ their sum, where renormalised)
//   groups     only experts of the best groups of neighbours can be chosen: of softmax scores the best expert tells (DeepSeek-V2), of sigmoids the
//              sum of the best two (DeepSeek-V3)
//   correction a summand of each expert's score that chooses with it, and is no part of the weight; without gradient
//   The auxiliary loss of a layer and microbatch, E sum_e f_e P_e (f: share of the tokens that chose e, P: mean score), enters by its gradient
//   alone: the loss that is reported is the model's.
#pragma once

#include <ATen/core/Tensor.h>

#include "sim/model/expert_form.h"

namespace executor {

struct Routing {
  at::Tensor scores;   // [tokens, experts]
  at::Tensor experts;  // [tokens, k] int64, the best first
  at::Tensor weights;  // [tokens, k]
};
Routing route(const at::Tensor& logits, const sim::ExpertForm& form,
              const at::Tensor& correction = {});  // correction: [experts], or no tensor

// What the loss says of the weights, and how much the auxiliary loss of this microbatch counts (0: it does not).
struct RoutingGradient {
  at::Tensor weights;  // [tokens, k]
  double balance = 0;
};
at::Tensor route_backward(const Routing& routing, const RoutingGradient& gradient,
                          const sim::ExpertForm& form);  // [tokens, experts], at the logits

}  // namespace executor
