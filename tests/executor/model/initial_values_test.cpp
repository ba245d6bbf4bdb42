#include "executor/model/initial_values.h"

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

const sim::Parameter kTable{.name = "embedding.tokens.weight",
                            .rows = 12,
                            .columns = 8,
                            .split = sim::TensorSplit::Rows,
                            .row_blocks = {12},
                            .initial = sim::InitialValue::Normal,
                            .deviation = 0.5};

struct BufferPart {
  std::int64_t first, count;
};
at::Tensor filled(const sim::Parameter& parameter, TensorPosition tensor, BufferPart part) {
  at::Tensor values = at::empty({part.count}, at::kDouble);
  fill_initial(values, parameter, {part.first}, {.seed = 7, .tensor = tensor, .vocabulary = 10});
  return values;
}

TEST(InitialValues, EveryLayoutHasTheSame) {
  const at::Tensor whole = filled(kTable, {}, {0, 96});
  EXPECT_TRUE(at::equal(filled(kTable, {.degree = 2, .rank = 1}, {0, 48}), whole.narrow(0, 48, 48))) << "tensor rank 1 has the lower rows";
  EXPECT_TRUE(at::equal(filled(kTable, {}, {17, 30}), whole.narrow(0, 17, 30))) << "a data rank's shard";
}

TEST(InitialValues, PaddingRowsAreZeroAndTheRestIsNormal) {
  const at::Tensor whole = filled(kTable, {}, {0, 96}).view({12, 8});
  EXPECT_EQ(whole.narrow(0, 10, 2).abs().max().item<double>(), 0.0);
  EXPECT_NEAR(whole.narrow(0, 0, 10).std().item<double>(), 0.5, 0.15);
}

TEST(InitialValues, OnesAndZeros) {
  sim::Parameter scale = table("head.norm.weight", 4, 1);
  scale.initial = sim::InitialValue::Ones;
  EXPECT_EQ(filled(scale, {}, {0, 4}).min().item<double>(), 1.0);
  scale.initial = sim::InitialValue::Zeros;
  EXPECT_EQ(filled(scale, {}, {0, 4}).abs().max().item<double>(), 0.0);
}

TEST(InitialValues, SeedAndNameCount) {
  sim::Parameter other = kTable;
  other.name = "head.weight";
  EXPECT_FALSE(at::equal(filled(kTable, {}, {0, 8}), filled(other, {}, {0, 8})));
}

}  // namespace
}  // namespace executor
