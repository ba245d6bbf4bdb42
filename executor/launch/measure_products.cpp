// Matrix products and attention: what bounds a large model.
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include "executor/launch/measure_timer.h"
#include "executor/model/heads.h"
#include "executor/model/linear.h"

namespace executor {
namespace {

at::Tensor matrix(std::int64_t rows, std::int64_t columns) { return at::full({rows, columns}, 0.01, at::kFloat); }

struct LinearShape {
  std::int64_t tokens, outputs, inputs;
};

void measure_linear(KernelTimer& timer, const CallTimes& calls, const LinearShape& shape, std::vector<Sample>& samples) {
  const auto [tokens, outputs, inputs] = shape;
  const Leaf weight{matrix(outputs, inputs), at::zeros({outputs, inputs}, at::kFloat)};
  const at::Tensor input = matrix(tokens, inputs), gradient = matrix(tokens, outputs);
  const auto whole = timer.time_recorded(input, [&](const at::Tensor& x) { return linear(x, weight); });
  const auto input_gradient = timer.time([&] { at::mm(gradient, weight.value); });
  // One node of the backward does both products, and the cost model adds a call to each.
  const auto rest = calls.backward_kernel(whole.backward) - input_gradient - (calls.backward - calls.plain);
  const std::vector<std::int64_t> sizes{tokens, outputs, inputs};
  samples.push_back({sim::Kernel::LinearForward, sizes, calls.forward_kernel(whole.forward)});
  samples.push_back({sim::Kernel::LinearInputGradient, sizes, input_gradient});
  samples.push_back({sim::Kernel::LinearWeightGradient, sizes, calls.at_least_half(rest)});
}

// Square, joint query-key-value, feed-forward up and down, for widths of small models; cut by tensor parallelism they fall between.
void measure_linears(KernelTimer& timer, const CallTimes& calls, std::vector<Sample>& samples) {
  for (const std::int64_t tokens : {64, 256, 1024, 4096}) {
    for (const std::int64_t width : {64, 128, 256, 512, 1024, 2048}) {
      for (const auto& [outputs, inputs] : {std::pair(width, width), {3 * width, width}, {4 * width, width}, {width, 4 * width}}) {
        const double flops = 2.0 * static_cast<double>(tokens * outputs * inputs);
        if (sim::Flops(flops) <= timer.options().largest) measure_linear(timer, calls, {tokens, outputs, inputs}, samples);
      }
    }
  }
}

struct AttentionShape {
  std::int64_t batch, heads, sequence, head_dim;
};

void measure_attention(KernelTimer& timer, const CallTimes& calls, const AttentionShape& shape, std::vector<Sample>& samples) {
  const HeadShape heads{.heads = shape.heads, .kv_heads = shape.heads, .head_dim = shape.head_dim, .sequence = shape.sequence};
  const auto time = timer.time_recorded(matrix(shape.batch * shape.sequence, heads.width()), [&](const at::Tensor& joint) {
    const auto [queries, keys, values] = split_heads(joint, heads, {});
    const at::Tensor mixed = at::scaled_dot_product_attention(queries, keys, values, {}, 0.0, /*is_causal=*/true);
    return mixed.transpose(1, 2).reshape({joint.size(0), heads.heads * heads.head_dim});
  });
  const std::vector<std::int64_t> sizes{shape.batch, shape.heads, shape.sequence, shape.head_dim};
  samples.push_back({sim::Kernel::AttentionForward, sizes, calls.forward_kernel(time.forward)});
  samples.push_back({sim::Kernel::AttentionBackward, sizes, calls.backward_kernel(time.backward)});
}

void measure_attentions(KernelTimer& timer, const CallTimes& calls, std::vector<Sample>& samples) {
  for (const std::int64_t sequence : {64, 128, 256, 512, 1024}) {
    for (const std::int64_t head_dim : {32, 64, 128}) {
      for (const auto& [batch, heads] : {std::pair<std::int64_t, std::int64_t>(1, 2), {2, 4}, {8, 4}}) {
        const double flops = 2.0 * static_cast<double>(batch * heads * sequence * sequence * head_dim);
        if (sim::Flops(flops) <= timer.options().largest) measure_attention(timer, calls, {batch, heads, sequence, head_dim}, samples);
      }
    }
  }
}

}  // namespace

void measure_products(KernelTimer& timer, const CallTimes& calls, std::vector<Sample>& samples) {
  measure_linears(timer, calls, samples);
  measure_attentions(timer, calls, samples);
}

}  // namespace executor
