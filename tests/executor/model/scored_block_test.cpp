#include "executor/model/scored_block.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr std::int64_t kScoredSamples = 2, kScoredHeads = 4, kScoredTokens = 8, kScoredWidth = 3;

struct ScoredCase {
  const char* name;
  void (*change)(ScoreForm& form);
};
constexpr ScoredCase kScoredCases[] = {
    {"window", [](ScoreForm& form) { form.window = 3; }},
    {"cap", [](ScoreForm& form) { form.cap = 0.7, form.scale = 5; }},
    {"slopes", [](ScoreForm& form) { form.slopes = alibi_slopes(kScoredHeads, {.first = 0, .count = kScoredHeads}, at::kDouble); }},
    {"sinks", [](ScoreForm& form) { form.sinks = random_leaf({kScoredHeads}, 7); }},
    {"both ways", [](ScoreForm& form) { form.is_causal = false, form.window = 5; }},
    {"all", [](ScoreForm& form) {
       form.window = 4, form.cap = 0.9;
       form.slopes = alibi_slopes(kScoredHeads, {.first = 0, .count = kScoredHeads}, at::kDouble);
       form.sinks = random_leaf({kScoredHeads}, 8);
     }}};

HeadOperands scored_operands(std::int64_t kv_heads) {
  const auto operand = [](std::int64_t heads, std::uint64_t seed) {
    return recorded(random_tensor({kScoredSamples, kScoredTokens, heads, kScoredWidth}, seed));
  };
  return {operand(kScoredHeads, 1), operand(kv_heads, 2), operand(kv_heads, 3)};
}

at::Tensor rows_at(const at::Tensor& tokens, const at::Tensor& positions) { return tokens.detach().index_select(1, positions); }

// Queries of two ranks and blocks of keys of both, mirrored: as all of a sample at once.
TEST(ScoredBlock, BlocksMergedAreTheWhole) {
  const std::vector<at::Tensor> places{at::cat({at::arange(0, 2, at::kLong), at::arange(6, 8, at::kLong)}), at::arange(2, 6, at::kLong)};
  for (const ScoredCase& each : kScoredCases)
    for (const std::int64_t kv_heads : {4, 1}) {
      ScoreForm form{.heads = kScoredHeads};
      each.change(form);
      const ScoreForm whole = [&] {
        ScoreForm copy = form;
        if (copy.sinks.value.defined()) copy.sinks.gradient = at::zeros_like(copy.sinks.value);
        return copy;
      }();
      const HeadOperands operands = scored_operands(kv_heads);
      const auto heads = [](const at::Tensor& tensor) { return tensor.transpose(1, 2); };
      const at::Tensor expected = attend_heads({heads(operands.queries), heads(operands.keys), heads(operands.values)}, whole, {});
      const at::Tensor slope = random_tensor({kScoredSamples, kScoredTokens, kScoredHeads, kScoredWidth}, 9);
      expected.backward(slope.view({kScoredSamples * kScoredTokens, -1}));
      const at::Tensor output = expected.detach().view({kScoredSamples, kScoredTokens, kScoredHeads, kScoredWidth});
      at::Tensor keys = at::zeros_like(operands.keys), values = at::zeros_like(operands.values);
      for (const at::Tensor& own : places) {
        const at::Tensor queries = rows_at(operands.queries, own);
        BlockScores merged{.output = at::zeros_like(queries),
                           .log_sum_exp = at::full({kScoredSamples, own.numel(), kScoredHeads}, -1e300, at::kDouble)};
        if (form.sinks.value.defined()) merged.log_sum_exp = sink_scores(form, merged.log_sum_exp.sizes(), at::kDouble);
        const auto of = [&](const at::Tensor& there) {
          return HeadOperands{queries, rows_at(operands.keys, there), rows_at(operands.values, there)};
        };
        merge_scores(merged, attend_scored_block(of(own), form, {own, own}));
        for (const at::Tensor& there : places)
          if (!there.is_same(own)) merge_scores(merged, attend_scored_block(of(there), form, {own, there}));
        EXPECT_LT(relative_error(merged.output, rows_at(output, own)), 1e-13) << each.name;
        const MergedScores given{.scores = merged, .output_gradient = rows_at(slope, own)};
        add_sink_gradient(form, given);
        at::Tensor query_gradient = at::zeros_like(queries);
        for (const at::Tensor& there : places) {
          const HeadOperands gradients = scored_block_gradients(of(there), given, form, {own, there});
          query_gradient.add_(gradients.queries);
          keys.index_add_(1, there, gradients.keys);
          values.index_add_(1, there, gradients.values);
        }
        EXPECT_LT(relative_error(query_gradient, rows_at(operands.queries.grad(), own)), 1e-12) << each.name;
      }
      EXPECT_LT(relative_error(keys, operands.keys.grad()), 1e-12) << each.name;
      EXPECT_LT(relative_error(values, operands.values.grad()), 1e-12) << each.name;
      if (form.sinks.value.defined()) {
        EXPECT_LT(relative_error(form.sinks.gradient, whole.sinks.gradient), 1e-12) << each.name;
      }
    }
}

// Out of the window of all: nothing, and no NaN.
TEST(ScoredBlock, AQueryThatSeesNoKeyGivesNothing) {
  const HeadOperands operands = scored_operands(4);
  const ScoreForm form{.heads = kScoredHeads, .window = 2};
  const at::Tensor near = at::arange(0, kScoredTokens, at::kLong), far = near + 20;
  const HeadOperands blocks{operands.queries.detach(), operands.keys.detach(), operands.values.detach()};
  const BlockScores scores = attend_scored_block(blocks, form, {far, near});
  EXPECT_EQ(scores.output.abs().max().item<double>(), 0);
  EXPECT_TRUE(scores.log_sum_exp.isinf().all().item<bool>());
}

}  // namespace
}  // namespace executor
