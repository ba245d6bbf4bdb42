// Slices of samples one by one, against the samples in one piece.
#include "executor/training/slice_attention.h"

#include <ATen/ops/cat.h>

#include "executor/training/context_attention.h"
#include "tests/executor/model/random_tensors.h"
#include "tests/planted/planted_bug.h"

namespace executor {
namespace {

constexpr std::int64_t kSamples = 2, kTokens = 8, kWidth = 2 * 3 + 3 + 2;  // of the joint projection: two heads on one of keys and values

ContextShape shape_of(std::int64_t slices, std::int64_t slice) {
  return {.heads = {.heads = 2, .kv_heads = 1, .head_dim = 3, .sequence = kTokens / slices},
          .value_dim = 2,
          .ranks = slices,
          .rank = slice,
          .is_mirrored = false,
          .rotary = {}};
}

// Its rows of [samples * tokens, width].
at::Tensor slice_of(const at::Tensor& all, std::int64_t slices, std::int64_t slice) {
  const std::int64_t count = kTokens / slices;
  return all.view({kSamples, kTokens, -1}).narrow(1, slice * count, count).reshape({kSamples * count, -1}).contiguous();
}

at::Tensor joined(const std::vector<at::Tensor>& slices) {
  std::vector<at::Tensor> by_sample;
  for (const at::Tensor& slice : slices) by_sample.push_back(slice.view({kSamples, -1, slice.size(1)}));
  return at::cat(by_sample, 1).reshape({kSamples * kTokens, -1});
}

struct Result {
  at::Tensor output, gradient;
};

Result attended(std::int64_t slices) {
  const at::Tensor joint = random_tensor({kSamples * kTokens, kWidth}, 1), slope = random_tensor({kSamples * kTokens, 4}, 2);
  std::vector<ContextShape> shapes;
  for (std::int64_t at = 0; at < slices; ++at) shapes.push_back(shape_of(slices, at));
  SliceCache cache;
  std::vector<SliceAttention> attention;
  for (const ContextShape& shape : shapes) attention.emplace_back(shape, cache);
  std::vector<at::Tensor> outputs, gradients(attention.size());
  for (std::size_t at = 0; at < attention.size(); ++at) {
    attention[at].begin(slice_of(joint, slices, static_cast<std::int64_t>(at)));
    attention[at].attend({.phase = sim::Phase::Forward});
    outputs.push_back(attention[at].output());
  }
  const at::Tensor output = joined(outputs).clone();
  for (std::size_t left = attention.size(); left > 0; --left) {
    attention[left - 1].begin_backward(slice_of(slope, slices, static_cast<std::int64_t>(left - 1)));
    attention[left - 1].attend({.phase = sim::Phase::Backward});
    gradients[left - 1] = attention[left - 1].joint_gradient();
  }
  return {output, joined(gradients)};
}

TEST(SliceAttention, IsThatOfWholeSamples) {
  const Result whole = attended(1);
  for (const std::int64_t slices : {2, 4, 8}) {
    const Result cut = attended(slices);
    EXPECT_LT(relative_error(cut.output, whole.output), 1e-13) << slices;
    EXPECT_LT(relative_error(cut.gradient, whole.gradient), 1e-13) << slices;
  }
}

TEST(SliceAttention, TheCacheIsEmptyWhenTheFirstSliceIsDone) {
  SliceCache cache;
  const ContextShape first = shape_of(2, 0), second = shape_of(2, 1);
  SliceAttention one(first, cache), two(second, cache);
  for (SliceAttention* each : {&one, &two}) {
    each->begin(random_tensor({kSamples * kTokens / 2, kWidth}, 3));
    each->attend({.phase = sim::Phase::Forward});
    each->output();
  }
  EXPECT_TRUE(cache.blocks[0].defined() && cache.blocks[1].defined() && cache.gradients.empty());
  for (SliceAttention* each : {&two, &one}) {
    each->begin_backward(random_tensor({kSamples * kTokens / 2, 4}, 4));
    EXPECT_TRUE(cache.gradients[0].defined());
    each->attend({.phase = sim::Phase::Backward});
    each->joint_gradient();
  }
  for (const auto* tensors : {&cache.blocks, &cache.gradients})
    for (const at::Tensor& tensor : *tensors) EXPECT_FALSE(tensor.defined());
}

TEST(SliceAttention, ExchangesNothing) {
  SliceCache cache;
  const ContextShape shape = shape_of(2, 0);
  EXPECT_THROW(SliceAttention(shape, cache).exchange({}), std::logic_error);
}

}  // namespace
}  // namespace executor
