// Matrix products and attention: what bounds a large model.
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include "executor/launch/measure_timer.h"
#include "executor/model/attention.h"
#include "executor/model/linear.h"
#include "executor/training/precision.h"

namespace executor {
namespace {

// One precision's products.
struct Target {
  KernelTimer& timer;
  const CallTimes& calls;
  std::vector<Sample>& samples;
  sim::Precision precision;

  at::Tensor matrix(std::int64_t rows, std::int64_t columns) const {
    return at::randn({rows, columns},
                     timer.of(scalar_type(precision)));  // equal numbers flatter: a card that switches fewer bits runs faster
  }
  void add(sim::Kernel kernel, const std::vector<std::int64_t>& shape, sim::Seconds time) const {
    samples.push_back({kernel, shape, time, precision});
  }
};

struct LinearShape {
  std::int64_t tokens, outputs, inputs;
};

void measure_linear(const Target& target, const LinearShape& shape) {
  const auto& [timer, calls, samples, precision] = target;
  const auto [tokens, outputs, inputs] = shape;
  const Leaf weight{target.matrix(outputs, inputs), target.matrix(outputs, inputs)};
  const at::Tensor input = target.matrix(tokens, inputs), gradient = target.matrix(tokens, outputs);
  const auto whole = timer.time_recorded(input, [&](const at::Tensor& x) { return linear(x, weight); });
  const auto input_gradient = timer.time([&] { at::mm(gradient, weight.value); });
  // One node of the backward does both products, and the cost model adds a call to each.
  const auto rest = calls.backward_kernel(whole.backward) - input_gradient - (calls.backward - calls.plain);
  const std::vector<std::int64_t> sizes{tokens, outputs, inputs};
  target.add(sim::Kernel::LinearForward, sizes, calls.forward_kernel(whole.forward));
  target.add(sim::Kernel::LinearInputGradient, sizes, input_gradient);
  target.add(sim::Kernel::LinearWeightGradient, sizes, calls.at_least_half(rest));
}

using Sizes = std::vector<std::int64_t>;

// Square, joint query-key-value, feed-forward up and down, for widths of small models; cut by tensor parallelism they fall between.
void measure_linears(const Target& target, const Sizes& all_tokens, const Sizes& widths) {
  for (const std::int64_t tokens : all_tokens) {
    for (const std::int64_t width : widths) {
      for (const auto& [outputs, inputs] : {std::pair(width, width), {3 * width, width}, {4 * width, width}, {width, 4 * width}}) {
        const double flops = 2.0 * static_cast<double>(tokens * outputs * inputs);
        if (sim::Flops(flops) <= target.timer.options().largest) measure_linear(target, {tokens, outputs, inputs});
      }
    }
  }
}

struct AttentionShape {
  std::int64_t batch, heads, sequence, head_dim;
};

void measure_attention(const Target& target, const AttentionShape& shape) {
  const HeadShape heads{.heads = shape.heads, .kv_heads = shape.heads, .head_dim = shape.head_dim, .sequence = shape.sequence};
  const auto time = target.timer.time_recorded(target.matrix(shape.batch * shape.sequence, heads.width()), [&](const at::Tensor& joint) {
    return attend_heads(split_heads(joint, heads, {}), {.heads = shape.heads}, {});
  });
  const std::vector<std::int64_t> sizes{shape.batch, shape.heads, shape.sequence, shape.head_dim};
  target.add(sim::Kernel::AttentionForward, sizes, target.calls.forward_kernel(time.forward));
  target.add(sim::Kernel::AttentionBackward, sizes, target.calls.backward_kernel(time.backward));
}

void measure_attentions(const Target& target, const Sizes& sequences, const Sizes& head_dims) {
  for (const std::int64_t sequence : sequences) {
    for (const std::int64_t head_dim : head_dims) {
      for (const auto& [batch, heads] : measured_shapes(target.timer.options().device).batches_heads) {
        const double flops = 2.0 * static_cast<double>(batch * heads * sequence * sequence * head_dim);
        if (sim::Flops(flops) <= target.timer.options().largest) measure_attention(target, {batch, heads, sequence, head_dim});
      }
    }
  }
}

}  // namespace

void measure_products(KernelTimer& timer, const CallTimes& calls, std::vector<Sample>& samples) {
  const MeasuredShapes& shapes = measured_shapes(timer.options().device);
  const bool on_cpu = timer.options().device.is_cpu();  // a CPU's models are in fp32, a GPU's in bf16
  const Target main{timer, calls, samples, on_cpu ? sim::Precision::Fp32 : sim::Precision::Bf16};
  const Target other{timer, calls, samples, on_cpu ? sim::Precision::Bf16 : sim::Precision::Fp32};
  measure_linears(main, shapes.tokens, shapes.widths);
  measure_attentions(main, shapes.sequences, shapes.head_dims);
  measure_linears(other, shapes.coarse_tokens, shapes.coarse_widths);
  measure_attentions(other, shapes.coarse_sequences, shapes.coarse_head_dims);
}

}  // namespace executor
