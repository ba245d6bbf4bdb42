// The kernels of this room on a device that is no CPU: those of CUDA C++ on a GPU, LibTorch's operators (composed.h) elsewhere. One place chooses.
// Same arguments and meaning as the functions of cross_entropy.h; nothing waits for the device.
#pragma once

#include "executor/kernels/cross_entropy.h"
#include "executor/kernels/dropout_draw.h"
#include "executor/kernels/eight_bits.h"
#include "executor/kernels/gradient_factor.h"
#include "executor/kernels/masked_softmax_cuda.h"
#include "executor/kernels/rotary_cuda.h"

namespace executor::on_device {

void local_maximum(const at::Tensor& maximum, const at::Tensor& logits, const VocabularyShard& shard);
void local_exponentials(const at::Tensor& sums, const CrossEntropyTargets& at, const VocabularyShard& shard);
at::Tensor token_losses(const at::Tensor& sums);
void loss_gradient_in_place(const CrossEntropyTargets& at, const at::Tensor& sums, const VocabularyShard& shard, const LossFactor& factor);

// limbs += the squares of all `values`, or the values themselves: int64 [ExactSum::kLimbs] on their device. Tensors flat and contiguous: on a
// GPU one launch for all of a type.
void add_squares(const at::Tensor& limbs, at::TensorList values);
void add_values(const at::Tensor& limbs, const at::Tensor& values);  // fp32 or fp64
void normalise(const at::Tensor& limbs);                             // before ranks add theirs
// factor = what the norm of those squares makes of the limit: fp64 [1]. The host need not know.
void gradient_factor(const at::Tensor& factor, const at::Tensor& limbs, const GradientLimit& limit);

// The residual sum and LayerNorm, or RMSNorm where there is no shift, as one pass over memory: on a GPU. Tensors as in executor/model/norm.h.
bool has_norm(const at::Tensor& input);
struct NormInput {
  at::Tensor value, addend;  // value += addend, where there is one
};
struct NormOutput {
  at::Tensor output, mean, inverse;  // mean: none for RMSNorm
};
struct NormWeights {
  at::Tensor scale, shift;
};
NormOutput norm_forward(const NormInput& input, const NormWeights& weights, double epsilon);
struct NormSaved {
  at::Tensor output_gradient, stream_gradient, input, mean, inverse, scale;
};
at::Tensor norm_backward(const NormSaved& saved, const NormWeights& gradients, bool writes);  // or adds to them; the gradient at the input

// Whether one kernel does what follows: on a GPU.
bool has_kernels(const at::Tensor& tensor);
bool attends_in_groups(const at::Tensor& tensor);  // LibTorch's fused attention takes fewer heads of keys than of queries
void drop(const at::Tensor& tensor, const DropoutDraw& draw, const at::Tensor& key_there);  // key_there: none where draw.key holds
struct SoftmaxOfHeads {
  SoftmaxShape shape;
  HeadPlaces places;
  DropoutDraw draw;
};
void masked_softmax(const at::Tensor& scores, const at::Tensor& kept, const SoftmaxOfHeads& heads,
                    const at::Tensor& key_there);  // kept: or none
void masked_softmax_backward(const at::Tensor& gradient, const at::Tensor& probabilities, const SoftmaxOfHeads& heads,
                             const at::Tensor& key_there);
void turn_heads(const at::Tensor& joint, const at::Tensor& table, const RotaryShape& shape);
at::Tensor gated_silu(const at::Tensor& joint);  // [rows, 2 width] -> [rows, width]
at::Tensor gated_silu_backward(const at::Tensor& joint, const at::Tensor& output_gradient);
UnitOperand unit_operand(const at::Tensor& numbers, const at::Tensor& largest, const UnitForm& form);

}  // namespace executor::on_device
