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
at::Tensor one_by_one(const HeadOperands& operands, bool is_causal) {
  std::vector<at::Tensor> outputs;
  for (const DocumentRows& rows : kDocuments.all()) {
    const auto part = [&](const at::Tensor& whole) {
      return whole.narrow(0, rows.begin / kRowLength, 1).narrow(2, rows.begin % kRowLength, rows.count);
    };
    outputs.push_back(attend_heads({part(operands.queries), part(operands.keys), part(operands.values)},
                                   {.heads = kRowHeads, .is_causal = is_causal}, {}));
  }
  return at::cat(outputs, 0);
}

TEST(DocumentAttention, IsThatOfEachDocumentAlone) {
  for (const bool is_causal : {true, false}) {
    const HeadOperands expected = operands_of(1), operands = operands_of(1);
    const at::Tensor alone = one_by_one(expected, is_causal),
                     together = attend_documents(operands, kDocuments, is_causal ? Sight::Past : Sight::All);
    EXPECT_LT(relative_error(together.detach(), alone.detach()), 1e-14);
    const at::Tensor slope = random_tensor({kRows * kRowLength, kRowHeads * kRowWidth}, 9);
    alone.backward(slope);
    together.backward(slope);
    EXPECT_LT(relative_error(operands.queries.grad(), expected.queries.grad()), 1e-13);
    EXPECT_LT(relative_error(operands.keys.grad(), expected.keys.grad()), 1e-13);
    EXPECT_LT(relative_error(operands.values.grad(), expected.values.grad()), 1e-13);
  }
}

TEST(DocumentAttention, OneDocumentASampleIsPlainAttention) {
  const HeadOperands operands = operands_of(1);
  const Documents whole({{.begin = 0, .count = kRowLength}, {.begin = kRowLength, .count = kRowLength}});
  EXPECT_LT(
      relative_error(attend_documents(operands, whole, Sight::Past).detach(), attend_heads(operands, {.heads = kRowHeads}, {}).detach()),
      1e-14);
}

}  // namespace
}  // namespace executor
