// LayerNorm and RMSNorm over the last dimension, and the residual sum that waits for them: on a GPU one pass over memory, elsewhere the sum, then the
// norm, which are the same bits. Outside autograd, both directions written out; gradients of scale and shift go straight into their leaves.
#pragma once

#include "executor/model/leaf.h"
#include "executor/model/residual.h"
#include "sim/model/model_config.h"

namespace executor {

struct NormLayer {
  sim::Norm kind = sim::Norm::LayerNorm;
  double epsilon = 1e-5;
  Leaf scale, shift;    // shift: a leaf without tensors for RMSNorm; scale: likewise where norms have no weights
  bool offset = false;  // the scale counts from 1
  at::Tensor factor() const { return offset && scale.value.defined() ? scale.value.detach().add(1) : scale.value; }
};

struct NormActivations {
  at::Tensor input;          // [tokens, width]
  at::Tensor mean, inverse;  // [tokens], at least fp32; mean: LayerNorm alone
};
struct NormResult {
  at::Tensor output;
  NormActivations kept;
};
// The stream is summed up, too.
NormResult norm_forward(ResidualStream& stream, const NormLayer& layer);

struct NormOutputGradients {
  at::Tensor output, stream;  // stream: of the norm's input from further on; without a tensor: none
};
at::Tensor norm_backward(const NormActivations& kept, const NormOutputGradients& gradients,
                         const NormLayer& layer);  // the gradient at its input

}  // namespace executor
