#include "sim/plan/precision_policy.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

PrecisionPolicy parsed(std::string_view text) {
  std::vector<Violation> wrong;
  PrecisionPolicy policy = parse_precision_policy(text, wrong);
  EXPECT_TRUE(wrong.empty()) << text;
  return policy;
}

TEST(PrecisionPolicy, WhatIsNotStatedFollows) {
  const PrecisionPolicy half(Precision::Bf16);
  EXPECT_EQ(half.of(Numbers::Wire), Precision::Bf16);
  EXPECT_EQ(half.of(Numbers::Moments), Precision::Fp32);
  EXPECT_TRUE(half.has_masters());
  EXPECT_FALSE(PrecisionPolicy(Precision::Tf32).has_masters());
  EXPECT_EQ(half.with(Numbers::Gradients, Precision::Fp32).of(Numbers::Wire), Precision::Fp32);
  EXPECT_EQ(half.with(Numbers::Masters, Precision::Bf16).bytes(Numbers::Moments), Bytes(2));
}

TEST(PrecisionPolicy, OneTextEach) {
  for (const char* text : {"bf16", "tf32", "fp16 gradients=fp32", "bf16 gradients=fp32 wire=bf16", "bf16 wire=int8",
                           "bf16 gathers=int8 gradients=fp32 wire=powersgd:4 masters=bf16", "bf16 masters=bf16 moments=fp32"})
    EXPECT_EQ(to_text(parsed(text)), text);
  EXPECT_EQ(to_text(parsed("bf16 wire=bf16 gradients=fp32")), "bf16 gradients=fp32 wire=bf16") << "the order of the words is free";
  EXPECT_EQ(to_text(parsed("bf16 weights=bf16 masters=fp32")), "bf16") << "what follows anyway is not said";
  EXPECT_EQ(to_text(parsed("tf32 gradients=fp32")), "tf32");
}

TEST(PrecisionPolicy, ScaledProductsLeaveTheRestIn16Bit) {
  for (const char* text : {"fp8:delayed", "fp8:mx", "fp4:nvfp4 gathers=fp8", "fp8:blockwise gathers=fp8 gradients=fp32 wire=bf16",
                           "fp8:delayed history=16 unscaled=fp32", "fp8:tensorwise unscaled=fp64"})
    EXPECT_EQ(to_text(parsed(text)), text);
  const PrecisionPolicy policy = parsed("fp8:tensorwise gathers=fp8 gradients=fp32");
  EXPECT_EQ(policy.compute(), Precision::Bf16);
  EXPECT_EQ(policy.scales(), ScaleRecipe::Tensorwise);
  EXPECT_EQ(policy.bytes(Numbers::Weights), Bytes(2));
  EXPECT_EQ(policy.gathered_bytes(), Bytes(1));
  EXPECT_EQ(to_text(policy.as_it_follows()), "fp8:tensorwise gathers=fp8");
  EXPECT_NE(parsed("fp8:delayed"), parsed("bf16"));
  EXPECT_EQ(parsed("fp8:delayed").scale_history(), 1);
  EXPECT_EQ(parsed("fp8:delayed history=16").scale_history(), 16);
  EXPECT_EQ(parsed("fp8:mx unscaled=fp32").bytes(Numbers::Weights), Bytes(4));
}

TEST(PrecisionPolicy, EndsInFullPrecisionStandBehindAllElse) {
  for (const char* text : {"bf16 head=fp32", "fp16 gradients=fp32 wire=bf16 embedding=fp32 head=fp32", "fp8:delayed embedding=fp32"})
    EXPECT_EQ(to_text(parsed(text)), text);
  EXPECT_EQ(to_text(parsed("bf16 head=fp32 embedding=fp32 masters=bf16")), "bf16 masters=bf16 embedding=fp32 head=fp32");
  const PrecisionPolicy policy = parsed("bf16 head=fp32");
  EXPECT_TRUE(policy.is_full(EndUnit::Head));
  EXPECT_FALSE(policy.is_full(EndUnit::Embedding));
  EXPECT_EQ(policy.bytes(Numbers::Weights), Bytes(2)) << "of the others";
  EXPECT_NE(policy, parsed("bf16"));
}

TEST(PrecisionPolicy, PartsWithoutScalesComputeAsWhatIsNotScaled) {
  for (const char* text : {"fp8:tensorwise products:attention=bf16", "fp8:mx unscaled=fp16 products:keys,experts=fp16",
                           "fp8:rowwise gradients=fp32 blocks:0=bf16 products:mlp=bf16", "fp8:delayed unscaled=fp32 products:mlp=fp32"})
    EXPECT_EQ(to_text(parsed(text)), text);
  EXPECT_EQ(to_text(parsed("fp8:mx products:experts,attention=bf16")), "fp8:mx products:attention,experts=bf16") << "in any order";
  const PrecisionPolicy policy = parsed("fp8:tensorwise gathers=fp8 products:attention=bf16");
  EXPECT_TRUE(policy.unscaled_parts().has(ProductPart::Attention));
  EXPECT_FALSE(policy.has_units_apart()) << "every block is like the others";
  EXPECT_EQ(policy.without_scales(), parsed("bf16"));
  EXPECT_NE(policy, parsed("fp8:tensorwise gathers=fp8"));
}

TEST(PrecisionPolicy, KindsOfNumbersMayBeWiderThanTheirBlocks) {
  for (const char* text : {"bf16 stream=fp32", "bf16 gradients=fp32 stream=fp32 routers=fp64", "fp32 routers=fp64",
                           "fp8:mx routers=fp32 products:experts=bf16", "fp8:rowwise head=fp8", "fp4:nvfp4 head=fp4 stream=fp32",
                           "fp16 norms=fp32", "bf16 stream=fp32 norms=fp32"})
    EXPECT_EQ(to_text(parsed(text)), text);
  EXPECT_EQ(to_text(parsed("bf16 routers=fp32 stream=fp32 wire=fp16")), "bf16 wire=fp16 stream=fp32 routers=fp32") << "in any order";
  const PrecisionPolicy policy = parsed("fp8:tensorwise head=fp8 routers=fp32");
  EXPECT_EQ(policy.of(WideKind::Routers), Precision::Fp32);
  EXPECT_EQ(policy.of(WideKind::Stream), std::nullopt);
  EXPECT_TRUE(policy.scales_head());
  EXPECT_EQ(policy.without_scales(), parsed("bf16 routers=fp32"));
  EXPECT_NE(policy, parsed("fp8:tensorwise routers=fp32"));
}

TEST(PrecisionPolicy, BlocksWithoutScalesComputeAsWhatIsNotScaled) {
  for (const char* text : {"fp8:tensorwise blocks:0,31=bf16", "fp4:nvfp4 blocks:28-31=bf16", "fp8:mx unscaled=fp16 blocks:0=fp16",
                           "fp8:rowwise unscaled=fp32 blocks:1=fp32", "fp8:tensorwise blocks:0=fp32"})
    EXPECT_EQ(to_text(parsed(text)), text);
  EXPECT_EQ(to_text(parsed("fp8:mx blocks:0=fp16 unscaled=fp16")), "fp8:mx unscaled=fp16 blocks:0=fp16") << "in any order";
  const PrecisionPolicy policy = parsed("fp8:tensorwise gathers=fp8 gradients=fp32 blocks:0,31=bf16");
  EXPECT_TRUE(has(policy.unscaled_blocks(), 31));
  EXPECT_FALSE(has(policy.unscaled_blocks(), 30));
  EXPECT_FALSE(policy.has_full_units());
  EXPECT_TRUE(policy.has_units_apart());
  EXPECT_EQ(policy.without_scales(), parsed("bf16 gradients=fp32"));
  EXPECT_NE(policy, parsed("fp8:tensorwise gathers=fp8 gradients=fp32"));
  EXPECT_TRUE(parsed("fp8:tensorwise blocks:0=fp32").has_full_units()) << "which rules refuse";
}

TEST(PrecisionPolicy, BlocksInFullPrecisionAreNamedByNumber) {
  for (const char* text : {"bf16 blocks:0=fp32", "fp16 masters=fp16 embedding=fp32 blocks:0-1,30-31=fp32"})
    EXPECT_EQ(to_text(parsed(text)), text);
  EXPECT_EQ(to_text(parsed("bf16 blocks:7,0,1,3-5,4=fp32 head=fp32")), "bf16 head=fp32 blocks:0-1,3-5,7=fp32") << "in order, each once";
  const PrecisionPolicy policy = parsed("bf16 blocks:1,3-4=fp32");
  for (const std::int64_t block : {-1, 0, 2, 5}) EXPECT_FALSE(policy.is_full_block(block)) << block;
  for (const std::int64_t block : {1, 3, 4}) EXPECT_TRUE(policy.is_full_block(block)) << block;
  EXPECT_TRUE(policy.has_full_units());
  EXPECT_NE(policy, parsed("bf16 blocks:1,3=fp32"));
  EXPECT_EQ(policy.as_it_follows(), parsed("bf16"));
}

TEST(PrecisionPolicy, NamesEveryWrongWord) {
  for (const auto& [text, words] : std::vector<std::pair<const char*, std::size_t>>{{"", 1},
                                                                                    {"int3", 1},
                                                                                    {"bf16 gradient=fp32", 1},
                                                                                    {"bf16 gradients", 1},
                                                                                    {"bf16 wire=tf32", 1},
                                                                                    {"fp8", 1},
                                                                                    {"fp8:nvfp4", 1},
                                                                                    {"fp4:mx", 1},
                                                                                    {"bf16 gathers=fp8", 1},
                                                                                    {"bf16 gathers=int4", 1},
                                                                                    {"bf16 wire=powersgd", 1},
                                                                                    {"fp8:tensorwise history=4", 1},
                                                                                    {"fp8:delayed history=0", 1},
                                                                                    {"fp8:delayed history=many", 1},
                                                                                    {"fp8:delayed unscaled=tf32", 1},
                                                                                    {"bf16 unscaled=fp32", 1},
                                                                                    {"bf16 head=bf16", 1},
                                                                                    {"bf16 head", 1},
                                                                                    {"fp32 head=fp32", 1},
                                                                                    {"fp32 blocks:0=fp32", 1},
                                                                                    {"bf16 blocks:0=bf16", 1},
                                                                                    {"bf16 blocks:0", 1},
                                                                                    {"bf16 blocks=fp32", 1},
                                                                                    {"bf16 blocks:=fp32", 1},
                                                                                    {"bf16 blocks:0,=fp32", 1},
                                                                                    {"bf16 blocks:3-1=fp32", 1},
                                                                                    {"bf16 blocks:-1=fp32", 1},
                                                                                    {"bf16 blocks:0=fp32 blocks:2=fp32", 1},
                                                                                    {"bf16 blocks:99999999999=fp32", 1},
                                                                                    {"fp8:delayed head=fp32 unscaled=fp32", 1},
                                                                                    {"fp8:tensorwise blocks:0=fp16", 1},
                                                                                    {"bf16 products:attention=bf16", 1},
                                                                                    {"fp8:mx products:attention=fp16", 1},
                                                                                    {"fp8:mx products:attention", 1},
                                                                                    {"fp8:mx products:norms=bf16", 1},
                                                                                    {"fp8:mx products:=bf16", 1},
                                                                                    {"fp8:mx products:mlp=bf16 products:keys=bf16", 1},
                                                                                    {"fp8:tensorwise blocks:0=fp8", 1},
                                                                                    {"bf16 routers=bf16", 1},
                                                                                    {"bf16 routers=tf32", 1},
                                                                                    {"bf16 routers", 1},
                                                                                    {"fp32 routers=fp32", 1},
                                                                                    {"fp64 stream=fp64", 1},
                                                                                    {"bf16 head=fp8", 1},
                                                                                    {"fp8:mx head=fp4", 1},
                                                                                    {"bf16 biases=fp32", 1},
                                                                                    {"fp8:tensorwise blocks:0=bf16 blocks:2=bf16", 1},
                                                                                    {"fp9 wire=fp9 =", 3}}) {
    std::vector<Violation> wrong;
    parse_precision_policy(text, wrong);
    EXPECT_EQ(wrong.size(), words) << text;
  }
}

}  // namespace
}  // namespace sim
