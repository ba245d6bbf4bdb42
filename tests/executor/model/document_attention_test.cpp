#include "executor/model/document_attention.h"

#include <ATen/ops/cat.h>

#include "executor/model/attention.h"
#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr std::int64_t kRows = 2, kRowHeads = 3, kRowLength = 6, kRowWidth = 4;
const Documents kDocuments({{.begin = 0, .count = 4}, {.begin = 4, .count = 2}, {.begin = 6, .count = 1}, {.begin = 7, .count = 5}});

HeadOperands operands_of(std::uint64_t seed) {
  const auto one = [&](std::uint64_t part) { return recorded(random_tensor({kRows, kRowHeads, kRowLength, kRowWidth}, seed + part)); };
  return {one(0), one(1), one(2)};
}

// Each as a sample of its own.
at::Tensor one_by_one(const HeadOperands& operands, const ScoreForm& form) {
  std::vector<at::Tensor> outputs;
  for (const DocumentRows& rows : kDocuments.all()) {
    const auto part = [&](const at::Tensor& whole) {
      return whole.narrow(0, rows.begin / kRowLength, 1).narrow(2, rows.begin % kRowLength, rows.count);
    };
    outputs.push_back(attend_heads({part(operands.queries), part(operands.keys), part(operands.values)}, form, {}));
  }
  return at::cat(outputs, 0);
}

std::vector<ScoreForm> forms() {
  const ScoreForm plain{.heads = kRowHeads};
  std::vector<ScoreForm> all(7, plain);
  all[1].is_causal = false;
  all[2].scale = 7;
  all[3].window = 2;
  all[4].cap = 0.5, all[4].scale = 7;
  all[5].slopes = alibi_slopes(kRowHeads, {.first = 0, .count = kRowHeads}, at::kDouble);
  all[6].sinks = random_leaf({kRowHeads}, 5);
  return all;
}

// With every form of scores. Planted: without documents a query sees those in front, too.
TEST(DocumentAttention, IsThatOfEachDocumentAlone) {
  const at::Tensor slope = random_tensor({kRows * kRowLength, kRowHeads * kRowWidth}, 9);
  for (const ScoreForm& form : forms()) {
    const auto fresh = [&] { return form.sinks.gradient.defined() ? form.sinks.gradient.zero_() : at::Tensor(); };
    const HeadOperands expected = operands_of(1), operands = operands_of(1);
    const at::Tensor alone = one_by_one(expected, form), together = attend_documents(operands, kDocuments, form);
    EXPECT_LT(relative_error(together.detach(), alone.detach()), 1e-14);
    EXPECT_GT(relative_error(attend_heads(operands, form, {}).detach(), alone.detach()), 1e-2);
    fresh();
    alone.backward(slope);
    const at::Tensor sink = form.sinks.gradient.defined() ? form.sinks.gradient.clone() : at::Tensor();
    fresh();
    together.backward(slope);
    EXPECT_LT(relative_error(operands.queries.grad(), expected.queries.grad()), 1e-13);
    EXPECT_LT(relative_error(operands.keys.grad(), expected.keys.grad()), 1e-13);
    EXPECT_LT(relative_error(operands.values.grad(), expected.values.grad()), 1e-13);
    if (sink.defined()) {
      EXPECT_LT(relative_error(form.sinks.gradient, sink), 1e-13);
    }
  }
}

TEST(DocumentAttention, OneDocumentASampleIsPlainAttention) {
  const HeadOperands operands = operands_of(1);
  const Documents whole({{.begin = 0, .count = kRowLength}, {.begin = kRowLength, .count = kRowLength}});
  EXPECT_LT(relative_error(attend_documents(operands, whole, {.heads = kRowHeads}).detach(),
                           attend_heads(operands, {.heads = kRowHeads}, {}).detach()),
            1e-14);
}

}  // namespace
}  // namespace executor
