#include "sim/cost/kernel_work.h"

#include <gtest/gtest.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

KernelWork work(Kernel kernel, std::vector<std::int64_t> shape, Precision precision = Precision::Fp32) {
  return kernel_work(kernel, shape, precision);
}

TEST(KernelWork, AMatrixProductIsTwoFlopsAMultiplyAdd) {
  for (const Kernel kernel : {Kernel::LinearForward, Kernel::LinearInputGradient, Kernel::LinearWeightGradient}) {
    EXPECT_EQ(work(kernel, {3, 5, 7}).flops, Flops(2 * 3 * 5 * 7));
    EXPECT_EQ(work(kernel, {3, 5, 7}).bytes, Bytes(4 * (3 * 7 + 7 * 5 + 3 * 5)));
    EXPECT_EQ(work(kernel, {3, 5, 7}, Precision::Bf16).bytes, Bytes(2 * (3 * 7 + 7 * 5 + 3 * 5)));
  }
}

// The same work as the model states for its operators.
TEST(KernelWork, AgreesWithTheModel) {
  const ModelConfig config = testing::tiny_gpt2();
  const ShardShape shape{.microbatch = 2, .sequence = 32};
  const ModelGraph model = make_model_graph(config, {});
  for (const Operator& op : model.layer(LayerIndex(1)).segments[0].operators) {
    if (op.kind == OperatorKind::Linear) {
      EXPECT_EQ(work(Kernel::LinearForward, {64, op.outputs, op.inputs}).flops, forward_flops(op, config, shape));
    }
    if (op.kind == OperatorKind::Attention) {
      EXPECT_EQ(work(Kernel::AttentionForward, {2, 4, 32, 16}).flops, forward_flops(op, config, shape));
      EXPECT_EQ(work(Kernel::AttentionBackward, {2, 4, 32, 16}).flops, backward_flops(op, config, shape));
    }
  }
}

TEST(KernelWork, AnElementwiseKernelIsItsTraffic) {
  EXPECT_EQ(work(Kernel::ResidualForward, {10, 20}).bytes, Bytes(4 * 3 * 200));
  EXPECT_EQ(work(Kernel::GatedActivationBackward, {10, 20}).bytes, Bytes(4 * 5 * 200));
  EXPECT_EQ(work(Kernel::Copy, {1000}).bytes, Bytes(2000));
  EXPECT_EQ(work(Kernel::NormForward, {10, 20}).flops, Flops(0));
}

// Gradient, weight and two moments are read, weight and moments written; 16-bit: fp32 master weight, and the 16-bit weight written.
TEST(KernelWork, AnUpdateMovesItsState) {
  EXPECT_EQ(work(Kernel::AdamW, {100}).bytes, Bytes(100 * 4 * 7));
  EXPECT_EQ(work(Kernel::AdamW, {100}, Precision::Fp64).bytes, Bytes(100 * 8 * 7));
  EXPECT_EQ(work(Kernel::AdamW, {100}, Precision::Bf16).bytes, Bytes(100 * (2 + 6 * 4 + 2)));
  EXPECT_EQ(work(Kernel::Sgd, {100}).bytes, Bytes(100 * 4 * 5));
}

}  // namespace
}  // namespace sim
