// What a layer does beside its products: bounded by memory, or by the call for small shapes. Random operands: equal numbers flatter.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/randn.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <iterator>

#include "executor/kernels/cross_entropy.h"
#include "executor/kernels/on_device.h"
#include "executor/launch/measure_timer.h"
#include "executor/model/activation.h"
#include "executor/model/dropout.h"
#include "executor/model/embedding.h"
#include "executor/model/heads.h"
#include "executor/model/norm.h"
#include "executor/model/rotary.h"
#include "executor/training/precision.h"

namespace executor {
namespace {

using sim::Kernel;

struct TokenShape {
  std::int64_t tokens, width;
};
constexpr TokenShape kShapes[] = {{16, 64},   {64, 64},    {64, 128},   {256, 128},  {512, 128},
                                  {512, 256}, {1024, 256}, {1024, 512}, {2048, 512}, {2048, 1024}};
// Logits: tokens, vocabulary.
constexpr TokenShape kLogits[] = {{64, 256}, {256, 256}, {1024, 256}, {4096, 256}, {512, 4096}, {512, 8192}};

class Elementwise {
 public:
  Elementwise(KernelTimer& timer, const CallTimes& calls, std::vector<Sample>& samples, sim::Precision precision)
      : timer_(timer), calls_(calls), samples_(samples), precision_(precision) {}

  void of_layer(const TokenShape& shape) {
    norm(shape);
    activations(shape);
    dropout(shape);
    embedding(shape);
    rotary(shape);
  }
  void cross_entropy(const TokenShape& shape);

 private:
  void norm(const TokenShape& shape);
  void activations(const TokenShape& shape);
  void residual(const TokenShape& shape);
  void dropout(const TokenShape& shape);
  void embedding(const TokenShape& shape);
  void rotary(const TokenShape& shape);

  at::TensorOptions numbers() const { return timer_.of(scalar_type(precision_)); }
  at::Tensor activations_of(const TokenShape& shape) const { return at::randn({shape.tokens, shape.width}, numbers()); }
  at::Tensor token_ids(const TokenShape& shape) const { return (at::arange(shape.tokens, timer_.of(at::kLong)) * 7919) % shape.width; }
  void add(Kernel kernel, const TokenShape& shape, sim::Seconds time) {
    samples_.push_back({kernel, {shape.tokens, shape.width}, calls_.at_least_half(time), precision_});
  }
  // Outside autograd; the cost model adds a call to it all the same.
  void add_forward(Kernel kernel, const TokenShape& shape, const KernelTimer::Action& action) {
    add(kernel, shape, timer_.time(action) - (calls_.recorded - calls_.plain));
  }
  void add_backward(Kernel kernel, const TokenShape& shape, const KernelTimer::Action& action) {
    add(kernel, shape, timer_.time(action) - (calls_.backward - calls_.plain));
  }

  KernelTimer& timer_;
  const CallTimes& calls_;
  std::vector<Sample>& samples_;
  sim::Precision precision_;
};

// Of three shapes one in the other precision, too: a CPU spends on a 16-bit element what it spends on one of 32, and more, as it converts.
constexpr std::size_t kCoarse = 3;

// A segment begins with its norm: what a recorded stretch costs beyond its operators is left in. Where one kernel makes a residual sum and its norm, the
// sum is what they take longer together.
void Elementwise::norm(const TokenShape& shape) {
  const auto leaf = [&] { return Leaf{at::randn({shape.width}, numbers()), at::randn({shape.width}, numbers())}; };
  const NormLayer layer{.scale = leaf(), .shift = leaf()};
  const at::Tensor addend = activations_of(shape);
  ResidualStream stream{.value = activations_of(shape), .addend = {}};
  const NormActivations kept = norm_forward(stream, layer).kept;
  const auto forward = [&](const at::Tensor& with) {
    return timer_.time([&] {
      stream.addend = with;
      norm_forward(stream, layer);
    });
  };
  const auto backward = [&](const at::Tensor& with) {
    return timer_.time([&] { norm_backward(kept, {.output = addend, .stream = with}, layer); });
  };
  const sim::Seconds forth = forward({}), back = backward({});
  add(Kernel::NormForward, shape, forth + calls_.piece.forward - (calls_.recorded - calls_.plain));
  add(Kernel::NormBackward, shape, back + calls_.piece.backward - (calls_.backward - calls_.plain));
  if (!on_device::has_norm(addend)) return residual(shape);
  add(Kernel::ResidualForward, shape, forward(addend) - forth - calls_.recorded);
  add(Kernel::ResidualBackward, shape, backward(addend) - back - calls_.backward);
}

void Elementwise::activations(const TokenShape& shape) {
  const auto plain =
      timer_.time_recorded(activations_of(shape), [](const at::Tensor& x) { return activation(x, sim::Activation::GeluTanh); });
  const auto gated = timer_.time_recorded(activations_of({shape.tokens, 2 * shape.width}),
                                          [](const at::Tensor& x) { return gated_activation(x, {.kind = sim::Activation::Silu}); });
  add(Kernel::ActivationForward, shape, calls_.forward_kernel(plain.forward));
  add(Kernel::ActivationBackward, shape, calls_.backward_kernel(plain.backward));
  add(Kernel::GatedActivationForward, shape, calls_.forward_kernel(gated.forward));
  add(Kernel::GatedActivationBackward, shape, calls_.backward_kernel(gated.backward));
}

void Elementwise::residual(const TokenShape& shape) {
  at::Tensor sum = activations_of(shape);
  const at::Tensor stream = activations_of(shape);
  add_forward(Kernel::ResidualForward, shape, [&] { sum.add_(stream); });
  add_backward(Kernel::ResidualBackward, shape, [&] { sum.add_(stream); });
}

// In place, thousands of times with one mask: as little is dropped as leaves what is kept finite.
void Elementwise::dropout(const TokenShape& shape) {
  at::Tensor values = activations_of(shape);
  const Dropout dropout{.probability = 1e-3, .key = random_key({1, 2, 3}), .first_element = 0};
  add_forward(Kernel::DropoutForward, shape, [&] { apply_dropout(values, dropout); });
  add_backward(Kernel::DropoutBackward, shape, [&] { apply_dropout(values, dropout); });
}

void Elementwise::embedding(const TokenShape& shape) {
  const std::int64_t vocabulary =
      timer_.options().device.is_cpu() ? 512 : 32768;  // a GPU's backward writes the gradient of a whole vocabulary
  const at::Tensor rows = activations_of({vocabulary, shape.width}), gradient = activations_of(shape),
                   tokens = token_ids({shape.tokens, vocabulary});
  add_forward(Kernel::EmbeddingForward, shape, [&] { at::index_select(rows, 0, tokens); });
  add_backward(Kernel::EmbeddingBackward, shape, [&] { add_embedding_gradient(rows, tokens, gradient); });
}

// width: of queries and keys together, which are turned; heads of 64 or less.
void Elementwise::rotary(const TokenShape& shape) {
  const std::int64_t head_dim = std::min<std::int64_t>(64, shape.width / 2);
  const HeadShape heads{
      .heads = shape.width / head_dim / 2, .kv_heads = shape.width / head_dim / 2, .head_dim = head_dim, .sequence = shape.tokens};
  const at::Tensor table = rotary_table(unscaled_turns(heads.head_dim, {10'000}), heads.sequence, numbers()),
                   joint = activations_of({shape.tokens, heads.width()});
  const c10::AutoGradMode do_not_record(false);
  const auto apart = timer_.time([&] { split_heads(joint, heads, {}); });
  const auto turned = timer_.time([&] { split_heads(joint, heads, table); });
  add(Kernel::RotaryForward, shape, turned - apart - (calls_.recorded - calls_.plain));
  add(Kernel::RotaryBackward, shape, turned - apart - (calls_.backward - calls_.plain));  // the same loop, the other way round
}

// The gradient is written over the logits: fresh ones each time, whose copy is taken off.
void Elementwise::cross_entropy(const TokenShape& shape) {
  const at::Tensor logits = activations_of(shape);
  const CrossEntropyTargets at{logits.clone(), token_ids(shape), empty_maximum(logits)};
  const at::Tensor sums = empty_sums(at.logits);
  const VocabularyShard all{.first = 0, .real = shape.width};
  add_forward(Kernel::CrossEntropyForward, shape, [&] {
    local_maximum(at.maximum, at.logits, all);
    local_exponentials(sums, at, all);
    token_losses(sums);
  });
  const sim::Seconds copy = timer_.time([&] { at.logits.copy_(logits); });
  const sim::Seconds both = timer_.time([&] {
    at.logits.copy_(logits);
    loss_gradient_in_place(at, sums, all, {.value = 1e-3});
  });
  add(Kernel::CrossEntropyBackward, shape, both - copy - (calls_.backward - calls_.plain));
}

}  // namespace

void measure_elementwise(KernelTimer& timer, const CallTimes& calls, std::vector<Sample>& samples) {
  const bool on_cpu = timer.options().device.is_cpu();  // a CPU's models are in fp32, a GPU's in bf16
  Elementwise main(timer, calls, samples, on_cpu ? sim::Precision::Fp32 : sim::Precision::Bf16);
  Elementwise other(timer, calls, samples, on_cpu ? sim::Precision::Bf16 : sim::Precision::Fp32);
  const std::int64_t factor = measured_shapes(timer.options().device).factor;
  const auto scaled = [&](const TokenShape& small) {
    return TokenShape{small.tokens * factor, small.width * std::min<std::int64_t>(factor, 4)};
  };
  for (std::size_t at = 0; at < std::size(kShapes); ++at) {
    main.of_layer(scaled(kShapes[at]));
    if (at % kCoarse == 0) other.of_layer(scaled(kShapes[at]));
  }
  for (std::size_t at = 0; at < std::size(kLogits); ++at) {
    main.cross_entropy(scaled(kLogits[at]));
    if (at % kCoarse == 0) other.cross_entropy(scaled(kLogits[at]));
  }
}

}  // namespace executor
