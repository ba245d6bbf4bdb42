#include "sim/clock/operator_clock.h"

#include <gtest/gtest.h>

#include "devices.h"

namespace sim {
namespace {

SoftwareStack stack_that(bool fuses) {
  SoftwareStack stack;
  stack.fused_residual = stack.fused_activation = stack.fused_rotary = stack.fused_loss = stack.fused_accumulation = fuses;
  return stack;
}

KernelSetting setting_that(bool fuses) {
  KernelSetting setting;
  setting.fused_norm = fuses;
  return setting;
}

struct Program {
  explicit Program(bool fuses) : stack(stack_that(fuses)), setting(setting_that(fuses)) {}
  SoftwareStack stack;
  KernelSetting setting;
  KernelClock clock{a100(), stack, setting};
  OperatorClock operators{clock, stack, setting};
};

TEST(OperatorClock, FusionSavesBytesAndLaunches) {
  const Program eager(false), fused(true);
  const auto saves = [](const Work& before, const Work& after) {
    EXPECT_LT(after.device, before.device);
    EXPECT_LE(after.kernels, before.kernels);
  };
  for (const Pass pass : {Pass::Forward, Pass::Backward}) {
    saves(eager.operators.norm(1e9, {true}, pass), fused.operators.norm(1e9, {true}, pass));
    saves(eager.operators.residual(1e9, {true, true}, pass), fused.operators.residual(1e9, {true, true}, pass));
    saves(eager.operators.activation(1e9, {true}, pass), fused.operators.activation(1e9, {true}, pass));
    saves(eager.operators.cross_entropy(1e9, pass), fused.operators.cross_entropy(1e9, pass));
    saves(eager.operators.rotary(1e9, {}, pass), fused.operators.rotary(1e9, {}, pass));
  }
  saves(eager.operators.accumulation(1e9), fused.operators.accumulation(1e9));
}

TEST(OperatorClock, AFrameworksOwnKernelMayBeOfLayerNormAlone) {
  Program program(true);
  const Program eager(false), fused(true);
  program.stack.unfused_rms_norm = true;
  for (const Pass pass : {Pass::Forward, Pass::Backward}) {
    EXPECT_EQ(program.operators.norm(1e9, {.rms = true}, pass).device, eager.operators.norm(1e9, {.rms = true}, pass).device);
    EXPECT_EQ(program.operators.norm(1e9, {.rms = false}, pass).device, fused.operators.norm(1e9, {.rms = false}, pass).device);
  }
  program.setting.compiled = true;
  EXPECT_EQ(program.operators.norm(1e9, {.rms = true}, Pass::Forward).device,
            fused.operators.norm(1e9, {.rms = true}, Pass::Forward).device);
}

// Passes of 16 bit, on an H200: the norm with its weight trained, positions of transposed heads.
TEST(OperatorClock, ModulesOfTransformersTakeWhatWasMeasured) {
  Program eager(false);
  eager.stack.unfused_adapters = true;
  const auto passes = [&](double count) { return eager.clock.bytes(count * 1e9).device; };
  EXPECT_NEAR(eager.operators.norm(1e9, {true}, Pass::Forward).device, passes(23.5), passes(0.1));
  EXPECT_NEAR(eager.operators.norm(1e9, {true}, Pass::Backward).device, passes(51), passes(0.1));
  EXPECT_NEAR(eager.operators.rotary(1e9, {}, Pass::Forward).device, passes(25.5), passes(0.1));
  EXPECT_NEAR(eager.operators.rotary(1e9, {}, Pass::Backward).device, passes(33), passes(0.1));
  eager.stack.unfused_adapters = false;
  EXPECT_LT(eager.operators.rotary(1e9, {}, Pass::Forward).device, passes(25));
  eager.stack.transposed_rotary = true;
  EXPECT_NEAR(eager.operators.rotary(1e9, {}, Pass::Forward).device, passes(25.5), passes(0.1));
}

TEST(OperatorClock, ClampsAndLengthenedPositionsFallBackWhereAProgramFusesNeither) {
  Program program(true);
  const auto activation = [&](bool clamped) { return program.operators.activation(1e9, {true, clamped}, Pass::Forward).device; };
  const auto rotary = [&](bool lengthens) { return program.operators.rotary(1e9, {lengthens}, Pass::Backward).device; };
  const double fused = activation(false), turned = rotary(false), pass = program.clock.bytes(1e9, 0).device;
  EXPECT_EQ(activation(true), fused);
  EXPECT_EQ(rotary(true), turned);
  program.stack.unfused_gate_limit = program.stack.unfused_long_rotary = true;
  EXPECT_EQ(activation(false), fused);
  EXPECT_EQ(rotary(false), turned);
  EXPECT_NEAR(activation(true) - fused, 8 * pass, 0.1 * pass) << "two halves are clamped, then joined";
  EXPECT_NEAR(rotary(true) - turned, 9 * pass, 0.1 * pass);
}

TEST(OperatorClock, ADropoutByItselfReadsItsInputAndWritesItsMaskOrTheOtherWayRound) {
  const Program eager(false);
  for (const Pass pass : {Pass::Forward, Pass::Backward})
    EXPECT_DOUBLE_EQ(eager.operators.dropout(1e9, pass).device, eager.clock.bytes(2.5e9, 1).device);
}

TEST(OperatorClock, AFusedNormReadsAndWritesOnce) {
  const Program fused(true);
  EXPECT_DOUBLE_EQ(fused.operators.norm(1e9, {}, Pass::Forward).device, fused.clock.bytes(2e9).device);
  EXPECT_DOUBLE_EQ(fused.operators.norm(1e9, {}, Pass::Backward).device, fused.clock.bytes(4e9, 2).device);
}

// LayerNorm reads and writes fp32, and what it puts out is cast to 16 bit: 2 + 2 + 2 + 1 passes of 16 bit; back 1 + 2, and 2 + 2 + 2 + 2 + 2.
TEST(OperatorClock, UnderAutocastTheStreamIsTwiceAsWide) {
  Program usual(true), cast(true);
  cast.setting.autocast = true;
  EXPECT_DOUBLE_EQ(cast.operators.norm(1e9, {}, Pass::Forward).device, cast.clock.bytes(7e9, 2).device);
  EXPECT_DOUBLE_EQ(cast.operators.norm(1e9, {}, Pass::Backward).device, cast.clock.bytes(13e9, 3).device);
  EXPECT_EQ(cast.operators.norm(1e9, {.rms = true}, Pass::Forward).device, usual.operators.norm(1e9, {.rms = true}, Pass::Forward).device);
  EXPECT_DOUBLE_EQ(cast.operators.residual(1e9, {}, Pass::Forward).device, cast.clock.bytes(5e9).device);
  EXPECT_GT(cast.operators.residual(1e9, {}, Pass::Backward).device, usual.operators.residual(1e9, {}, Pass::Backward).device);
}

// Adam: gradient, master weight and two moments read, the latter three written, the 16-bit weight; and the norm.
TEST(OperatorClock, BytesOfAnOptimizer) {
  Program program(true);
  EXPECT_EQ(program.operators.optimizer_bytes(), 42);
  program.setting.moments = 1;
  EXPECT_EQ(program.operators.optimizer_bytes(), 34);
  program.setting.moments = 2;
  program.setting.has_trust_ratio = true;
  EXPECT_EQ(program.operators.optimizer_bytes(), 58);
}

TEST(OperatorClock, CompiledMeansFused) {
  Program eager(false), fused(true);
  eager.setting.compiled = true;
  const OperatorClock compiled(eager.clock, eager.stack, eager.setting);
  EXPECT_DOUBLE_EQ(compiled.norm(1e9, {true}, Pass::Forward).device, fused.operators.norm(1e9, {true}, Pass::Forward).device);
  EXPECT_DOUBLE_EQ(compiled.dropout(1e9, Pass::Forward).device, fused.operators.dropout(1e9, Pass::Forward).device);
  EXPECT_DOUBLE_EQ(compiled.embedding(1e9, Pass::Forward).device, fused.operators.embedding(1e9, Pass::Forward).device);
  EXPECT_DOUBLE_EQ(compiled.optimizer(1e9).device, fused.operators.optimizer(1e9).device);
}

}  // namespace
}  // namespace sim
