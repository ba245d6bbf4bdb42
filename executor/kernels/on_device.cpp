#include "executor/kernels/on_device.h"

#include "executor/kernels/composed.h"

#if MESHWRIGHT_CUDA
#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <bit>

#include "executor/kernels/cross_entropy_cuda.h"
#include "executor/kernels/dropout_cuda.h"
#include "executor/kernels/eight_bits_cuda.h"
#include "executor/kernels/gated_silu_cuda.h"
#include "executor/kernels/norm_cuda.h"
#include "executor/kernels/numbers.h"
#include "executor/kernels/square_sums_cuda.h"
#include "executor/kernels/typed_ranges.h"
#endif

namespace executor::on_device {
namespace {

void add_composed_squares(const at::Tensor& limbs, at::TensorList values) {
  for (const at::Tensor& tensor : values) composed::add_squares(limbs, tensor);
}

}  // namespace

#if MESHWRIGHT_CUDA

namespace {

CudaStream stream_of(const at::Tensor& tensor) { return c10::cuda::getCurrentCUDAStream(tensor.device().index()).stream(); }

// Calls `with` with a null pointer of the number's type.
template <class With>
void by_number(const at::Tensor& tensor, const With& with) {
  switch (tensor.scalar_type()) {
    case at::kFloat: return with(static_cast<float*>(nullptr));
    case at::kDouble: return with(static_cast<double*>(nullptr));
    case at::kBFloat16: return with(static_cast<Bfloat16Bits*>(nullptr));
    case at::kHalf: return with(static_cast<Float16Bits*>(nullptr));
    default: TORCH_CHECK(false, "no kernel for ", tensor.scalar_type());
  }
}

template <class Number>
Number* numbers_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? numbers<Number>(tensor) : nullptr;
}

DropoutDraw by_key_there(DropoutDraw draw, const at::Tensor& key_there) {
  draw.key_there = numbers_or_null<std::int64_t>(key_there);
  return draw;
}

template <class Logit>
DeviceLogits<Logit> logits_on(const at::Tensor& logits, const VocabularyShard& shard) {
  return {.logits = numbers<Logit>(logits), .tokens = logits.size(0), .columns = logits.size(1), .real = shard.real};
}
template <class Logit>
DeviceTargets<StatisticOf<Logit>> targets_on(const CrossEntropyTargets& at, const VocabularyShard& shard) {
  return {.targets = numbers<std::int64_t>(at.targets), .first = shard.first, .maximum = numbers<StatisticOf<Logit>>(at.maximum)};
}

template <class Number, class Gradient>
void launch_backward(const NormSaved& saved, const NormWeights& gradients, bool writes, const at::Tensor& result) {
  const NormShape shape{.tokens = saved.input.size(0), .width = saved.input.size(1)};
  const auto wide = saved.input.options().dtype(at::toOpMathType(saved.input.scalar_type()));
  const at::Tensor workspace = at::empty({norm_workspace(shape)}, wide);
  launch_norm_backward<Number, Gradient>({.output_gradient = numbers<Number>(saved.output_gradient),
                                          .h = numbers<Number>(saved.input),
                                          .mean = numbers_or_null<WideOf<Number>>(saved.mean),
                                          .inverse = numbers<WideOf<Number>>(saved.inverse),
                                          .scale = numbers<Number>(saved.scale),
                                          .stream_gradient = numbers_or_null<Number>(saved.stream_gradient),
                                          .input_gradient = numbers<Number>(result),
                                          .scale_gradient = numbers<Gradient>(gradients.scale),
                                          .shift_gradient = numbers_or_null<Gradient>(gradients.shift),
                                          .writes = writes,
                                          .workspace = numbers<WideOf<Number>>(workspace)},
                                         shape, stream_of(saved.input));
}

}  // namespace

void local_maximum(const at::Tensor& maximum, const at::Tensor& logits, const VocabularyShard& shard) {
  if (!logits.is_cuda()) return composed::local_maximum(maximum, logits, shard);
  by_number(logits, [&]<class Logit>(Logit*) {
    launch_maximum<Logit>(logits_on<Logit>(logits, shard), numbers<StatisticOf<Logit>>(maximum), stream_of(logits));
  });
}

void local_exponentials(const at::Tensor& sums, const CrossEntropyTargets& at, const VocabularyShard& shard) {
  if (!sums.is_cuda()) return composed::local_exponentials(sums, at, shard);
  by_number(at.logits, [&]<class Logit>(Logit*) {
    launch_exponentials<Logit>(logits_on<Logit>(at.logits, shard), targets_on<Logit>(at, shard), numbers<StatisticOf<Logit>>(sums),
                               stream_of(sums));
  });
}

at::Tensor token_losses(const at::Tensor& sums) {
  if (!sums.is_cuda()) return composed::token_losses(sums);
  const at::Tensor losses = at::empty({sums.size(1)}, sums.options());
  if (sums.scalar_type() == at::kDouble)
    launch_token_losses({.sums = numbers<double>(sums), .tokens = sums.size(1)}, numbers<double>(losses), stream_of(sums));
  else
    launch_token_losses({.sums = numbers<float>(sums), .tokens = sums.size(1)}, numbers<float>(losses), stream_of(sums));
  return losses;
}

void loss_gradient_in_place(const CrossEntropyTargets& at, const at::Tensor& sums, const VocabularyShard& shard, const LossFactor& factor) {
  if (!sums.is_cuda()) return composed::loss_gradient_in_place(at, sums, shard, factor);
  by_number(at.logits, [&]<class Logit>(Logit*) {
    using Statistic = StatisticOf<Logit>;
    launch_loss_gradient<Logit>(logits_on<Logit>(at.logits, shard), targets_on<Logit>(at, shard),
                                {.sums = numbers<Statistic>(sums),
                                 .scale = static_cast<Statistic>(factor.value),
                                 .scale_there = numbers_or_null<double>(factor.there)},
                                stream_of(sums));
  });
}

void add_squares(const at::Tensor& limbs, at::TensorList values) {
  if (!limbs.is_cuda()) return add_composed_squares(limbs, values);
  for (const TypedRanges& of : ranges_by_type(values))
    by_number(of.first, [&]<class Number>(Number*) {
      launch_add_squares(numbers<Number>(of.first), of.ranges, numbers<std::int64_t>(limbs), stream_of(limbs));
    });
}

void add_values(const at::Tensor& limbs, const at::Tensor& values) {
  if (!limbs.is_cuda()) return composed::add_values(limbs, values);
  const ElementRange all{.begin = 0, .end = values.numel()};
  if (values.scalar_type() == at::kDouble)
    launch_add_values(numbers<double>(values), all, numbers<std::int64_t>(limbs), stream_of(limbs));
  else
    launch_add_values(numbers<float>(values), all, numbers<std::int64_t>(limbs), stream_of(limbs));
}

void normalise(const at::Tensor& limbs) {
  if (limbs.is_cuda()) launch_normalise(numbers<std::int64_t>(limbs), stream_of(limbs));
}

void gradient_factor(const at::Tensor& factor, const at::Tensor& limbs, const GradientLimit& limit) {
  if (!limbs.is_cuda()) return composed::gradient_factor(factor, limbs, limit);
  launch_gradient_factor(numbers<double>(factor), numbers<std::int64_t>(limbs), limit, stream_of(limbs));
}

bool has_norm(const at::Tensor& input) { return input.is_cuda() && input.size(1) <= kWidestNorm; }

NormOutput norm_forward(const NormInput& of, const NormWeights& weights, double epsilon) {
  const at::Tensor& input = of.value;
  const auto wide = input.options().dtype(at::toOpMathType(input.scalar_type()));
  NormOutput result{at::empty_like(input), weights.shift.defined() ? at::empty({input.size(0)}, wide) : at::Tensor(),
                    at::empty({input.size(0)}, wide)};
  by_number(input, [&]<class Number>(Number*) {
    launch_norm_forward<Number>({.sum = numbers<Number>(input),
                                 .stream = numbers_or_null<Number>(of.addend),
                                 .scale = numbers<Number>(weights.scale),
                                 .shift = numbers_or_null<Number>(weights.shift),
                                 .output = numbers<Number>(result.output),
                                 .mean = numbers_or_null<WideOf<Number>>(result.mean),
                                 .inverse = numbers<WideOf<Number>>(result.inverse),
                                 .epsilon = epsilon},
                                {.tokens = input.size(0), .width = input.size(1)}, stream_of(input));
  });
  return result;
}

at::Tensor norm_backward(const NormSaved& saved, const NormWeights& gradients, bool writes) {
  at::Tensor result = at::empty_like(saved.input);
  by_number(saved.input, [&]<class Number>(Number*) {
    if (gradients.scale.scalar_type() == saved.input.scalar_type())
      launch_backward<Number, Number>(saved, gradients, writes, result);
    else if constexpr (!std::is_same_v<Number, double> && !std::is_same_v<Number, float>)
      launch_backward<Number, float>(saved, gradients, writes, result);
    else
      TORCH_CHECK(false, "no norm of ", saved.input.scalar_type(), " with gradients of ", gradients.scale.scalar_type());
  });
  return result;
}

bool has_kernels(const at::Tensor& tensor) { return tensor.is_cuda(); }
bool attends_in_groups(const at::Tensor& tensor) { return tensor.is_cuda() && tensor.element_size() == 2; }

void drop(const at::Tensor& tensor, const DropoutDraw& draw, const at::Tensor& key_there) {
  const DropoutDraw own = by_key_there(draw, key_there);
  by_number(tensor, [&]<class Number>(Number*) { launch_dropout(numbers<Number>(tensor), tensor.numel(), own, stream_of(tensor)); });
}

void masked_softmax(const at::Tensor& scores, const at::Tensor& kept, const SoftmaxOfHeads& heads, const at::Tensor& key_there) {
  by_number(scores, [&]<class Number>(Number*) {
    launch_masked_softmax<Number>({.scores = numbers<Number>(scores), .probabilities = numbers_or_null<Number>(kept)}, heads.shape,
                                  heads.places, by_key_there(heads.draw, key_there), stream_of(scores));
  });
}

void masked_softmax_backward(const at::Tensor& gradient, const at::Tensor& probabilities, const SoftmaxOfHeads& heads,
                             const at::Tensor& key_there) {
  by_number(gradient, [&]<class Number>(Number*) {
    launch_masked_softmax_backward<Number>({.gradient = numbers<Number>(gradient), .probabilities = numbers<Number>(probabilities)},
                                           heads.shape, heads.places, by_key_there(heads.draw, key_there), stream_of(gradient));
  });
}

void turn_heads(const at::Tensor& joint, const at::Tensor& table, const RotaryShape& shape) {
  by_number(joint,
            [&]<class Number>(Number*) { launch_rotary<Number>(numbers<Number>(joint), numbers<Number>(table), shape, stream_of(joint)); });
}

at::Tensor gated_silu(const at::Tensor& joint) {
  const GatedShape shape{.rows = joint.size(0), .width = joint.size(1) / 2};
  const at::Tensor output = at::empty({shape.rows, shape.width}, joint.options()), whole = joint.contiguous();
  by_number(joint, [&]<class Number>(Number*) {
    launch_gated_silu<Number>(numbers<Number>(output), numbers<Number>(whole), shape, stream_of(joint));
  });
  return output;
}

at::Tensor gated_silu_backward(const at::Tensor& joint, const at::Tensor& output_gradient) {
  const GatedShape shape{.rows = joint.size(0), .width = joint.size(1) / 2};
  const at::Tensor whole = joint.contiguous(), gradient = output_gradient.contiguous(), result = at::empty_like(whole);
  by_number(joint, [&]<class Number>(Number*) {
    launch_gated_silu_backward<Number>(numbers<Number>(result), numbers<Number>(whole), numbers<Number>(gradient), shape, stream_of(joint));
  });
  return result;
}

namespace {

std::int32_t side_of(std::int64_t numbers) { return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint64_t>(numbers))) - 1; }

at::Tensor empty_scales(const UnitScales& scales, const at::TensorOptions& options) {
  const UnitScales all = filled(scales);
  switch (scales.order) {
    case ScaleOrder::OuterFirst: return at::empty({all.inners, all.outers}, options).t();
    case ScaleOrder::InnerFirst: return at::empty({all.outers, all.inners}, options);
    case ScaleOrder::Pieces: break;
  }
  return at::empty({all.outers * all.inners}, options.dtype(at::kFloat8_e8m0fnu));
}

}  // namespace

UnitOperand unit_operand(const at::Tensor& all, const at::Tensor& largest, const UnitForm& form) {
  const at::Tensor whole = all.contiguous(), magnitudes = largest.contiguous();
  const EightBitShape shape{.rows = whole.size(0),
                            .columns = whole.size(1),
                            .is_turned = form.is_turned,
                            .down = side_of(form.tile.rows),
                            .across = side_of(form.tile.columns),
                            .format = form.format,
                            .rule = form.rule};
  using Sides = std::array<std::int64_t, 2>;
  const Sides sides = form.is_turned ? Sides{shape.columns, shape.rows} : Sides{shape.rows, shape.columns};
  const UnitOperand result{at::empty(sides, whole.options().dtype(type_of(form.format))),
                           empty_scales(scales_of_unit(shape), magnitudes.options())};
  by_number(whole, [&]<class Number>(Number*) {
    if constexpr (!std::is_same_v<Number, double>)
      launch_eight_bits<Number>({.numbers = numbers<Number>(whole),
                                 .largest = numbers<float>(magnitudes),
                                 .codes = numbers<std::uint8_t>(result.codes),
                                 .inverse = result.inverse.data_ptr()},
                                shape, stream_of(whole));
    else
      TORCH_CHECK(false, "no unit of 8 bit takes fp64");
  });
  return result;
}

#else

void local_maximum(const at::Tensor& maximum, const at::Tensor& logits, const VocabularyShard& shard) {
  composed::local_maximum(maximum, logits, shard);
}
void local_exponentials(const at::Tensor& sums, const CrossEntropyTargets& at, const VocabularyShard& shard) {
  composed::local_exponentials(sums, at, shard);
}
at::Tensor token_losses(const at::Tensor& sums) { return composed::token_losses(sums); }
void loss_gradient_in_place(const CrossEntropyTargets& at, const at::Tensor& sums, const VocabularyShard& shard, const LossFactor& factor) {
  composed::loss_gradient_in_place(at, sums, shard, factor);
}
void add_squares(const at::Tensor& limbs, at::TensorList values) { add_composed_squares(limbs, values); }
void add_values(const at::Tensor& limbs, const at::Tensor& values) { composed::add_values(limbs, values); }
void normalise(const at::Tensor&) {}  // composed ones are far from overflow
void gradient_factor(const at::Tensor& factor, const at::Tensor& limbs, const GradientLimit& limit) {
  composed::gradient_factor(factor, limbs, limit);
}
bool has_norm(const at::Tensor&) { return false; }
NormOutput norm_forward(const NormInput&, const NormWeights&, double) {
  TORCH_CHECK(false, "this build has no norm of its own for a device");
}
at::Tensor norm_backward(const NormSaved&, const NormWeights&, bool) {
  TORCH_CHECK(false, "this build has no norm of its own for a device");
}
bool has_kernels(const at::Tensor&) { return false; }
bool attends_in_groups(const at::Tensor&) { return false; }
void drop(const at::Tensor&, const DropoutDraw&, const at::Tensor&) {
  TORCH_CHECK(false, "this build has no dropout of its own for a device");
}
void masked_softmax(const at::Tensor&, const at::Tensor&, const SoftmaxOfHeads&, const at::Tensor&) {
  TORCH_CHECK(false, "this build has no softmax of its own for a device");
}
void masked_softmax_backward(const at::Tensor&, const at::Tensor&, const SoftmaxOfHeads&, const at::Tensor&) {
  TORCH_CHECK(false, "this build has no softmax of its own for a device");
}
void turn_heads(const at::Tensor&, const at::Tensor&, const RotaryShape&) { TORCH_CHECK(false, "this build turns no heads on a device"); }
at::Tensor gated_silu(const at::Tensor&) { TORCH_CHECK(false, "this build has no activation of its own for a device"); }
at::Tensor gated_silu_backward(const at::Tensor&, const at::Tensor&) {
  TORCH_CHECK(false, "this build has no activation of its own for a device");
}
UnitOperand unit_operand(const at::Tensor&, const at::Tensor&, const UnitForm&) {
  TORCH_CHECK(false, "this build rounds nothing to 8 bit on a device by a kernel of its own");
}

#endif

}  // namespace executor::on_device
