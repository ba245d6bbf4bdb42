#include "sim/recipe/torchtitan_scales.h"

#include <gmock/gmock.h>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ImportedPlan with_scales(const std::string& converters, const std::string& sections, const std::string& network = "llama3",
                         const std::string& flavor = "8B") {
  const bool in_blocks = converters.find("mx") != std::string::npos;
  return testing::imported("[model]\nname = \"" + network + "\"\nflavor = \"" + flavor + "\"\nconverters = " + converters +
                               "\n[training]\nlocal_batch_size = 1\nseq_len = 32\n[parallelism]\ndata_parallel_shard_degree = -1\n" +
                               sections,
                           {.model = {}, .cluster = load_cluster(in_blocks ? "b200-180gb-sxm" : "h100-80gb-sxm", DeviceCount{8})});
}

std::string precision_of(const ImportedPlan& imported) { return to_text(imported.plan.workload.precision); }

constexpr const char* kLinears = "[\"quantize.linear.float8\"]";

TEST(TorchtitanScales, WhatAFilterLeavesIsAPartOfTheBlocks) {
  const auto filtered = [](const std::string& list) {
    return precision_of(with_scales(kLinears, "[quantize.linear.float8]\nrecipe_name = \"rowwise\"\nfilter_fqns = " + list + "\n"));
  };
  EXPECT_EQ(filtered("[\"output\"]"), "fp8:rowwise gradients=fp32");
  EXPECT_EQ(filtered("[\"output\", \"attention\"]"), "fp8:rowwise gradients=fp32 products:attention=bf16");
  EXPECT_EQ(filtered("[\"output\", \"attention.wk\", \"attention.wv\"]"), "fp8:rowwise gradients=fp32 products:keys=bf16");
  EXPECT_EQ(filtered("[\"output\", \"feed_forward\"]"), "fp8:rowwise gradients=fp32 products:mlp=bf16");
  EXPECT_EQ(filtered("[\"output\", \"auto_filter_small_kn\"]"), "fp8:rowwise gradients=fp32 products:keys=bf16") << "1,024 rows";
}

TEST(TorchtitanScales, SmallProductsOfTensorwiseScalesAreOthers) {
  EXPECT_EQ(precision_of(with_scales(kLinears,
                                     "[quantize.linear.float8]\nrecipe_name = \"tensorwise\"\nfilter_fqns = "
                                     "[\"output\", \"auto_filter_small_kn\"]\n")),
            "fp8:tensorwise gradients=fp32");
}

TEST(TorchtitanScales, WhatNoPartSaysIsTold) {
  const ImportedPlan part = with_scales(kLinears, "[quantize.linear.float8]\nfilter_fqns = [\"output\", \"attention.wq\", \"w2\"]\n");
  EXPECT_EQ(precision_of(part), "fp8:tensorwise gradients=fp32");
  EXPECT_THAT(testing::text_of(part.lost), HasSubstr("leaves attention.wq, feed_forward.w2 in 16 bit"));
}

TEST(TorchtitanScales, TheHeadIsALinearLayerLikeOthers) {
  EXPECT_EQ(precision_of(with_scales(kLinears, "")), "fp8:tensorwise gradients=fp32 head=fp8");
  EXPECT_EQ(precision_of(with_scales("[\"mx\"]", "[mx]\nrecipe_name = \"mxfp8_cublas\"\n")), "fp8:mx gradients=fp32 head=fp8");
  EXPECT_EQ(precision_of(with_scales("[\"quantize.grouped_mm.float8\"]", "", "deepseek_v3", "16B")).find("head"), std::string::npos);
}

TEST(TorchtitanScales, NamesOfNoLayerAreTold) {
  const auto notes = [](const std::string& list) {
    return testing::text_of(with_scales(kLinears, "[quantize.linear.float8]\nfilter_fqns = " + list + "\n").notes);
  };
  EXPECT_THAT(notes("[\"output\", \"zebra\"]"), HasSubstr("names zebra, and no linear layer"));
  EXPECT_THAT(notes("[\"output\", \"wq\", \"layers.0\"]"), Not(HasSubstr("no linear layer")));
}

// Names of sections of converters that had no effect, whatever they said.
TEST(TorchtitanScales, WhatElseOfAConverterTakesTimeIsTold) {
  const auto lost = [](const char* converters, const std::string& sections) {
    return testing::text_of(with_scales(converters, sections).lost);
  };
  EXPECT_THAT(lost(kLinears, "[quantize.linear.float8]\nfilter_fqns = [\"output\"]\nemulate = true\n"), HasSubstr("are emulated"));
  EXPECT_THAT(lost("[\"float8\"]", "[float8]\nforce_recompute_fp8_weight_in_bwd = true\n"), HasSubstr("cast again in the backward"));
  EXPECT_THAT(lost("[\"mx\"]", "[mx]\nrecipe_name = \"mxfp8_emulated\"\n"), HasSubstr("emulates products"));
  EXPECT_THAT(lost("[\"mx\"]", "[mx]\nrecipe_name = \"mxfp8_cublas\"\nfilter_fqns = [\"output\"]\n"), ::testing::IsEmpty());
}

TEST(TorchtitanScales, ExpertsAreConvertedWhereTheyAreNamed) {
  const std::string filters = "filter_fqns = [\"output\", \"router.gate\"]\n";
  const auto experts = [&](const char* converters, const std::string& sections) {
    return precision_of(with_scales(converters, sections, "deepseek_v3", "16B"));
  };
  EXPECT_EQ(experts("[\"float8\"]", "[float8]\n" + filters), "fp8:tensorwise gradients=fp32 products:experts=bf16");
  EXPECT_EQ(experts("[\"float8\"]", "[float8]\n" + filters + "moe_fqns_prototype = [\"experts\"]\n"), "fp8:tensorwise gradients=fp32");
  EXPECT_EQ(experts("[\"quantize.linear.mx\", \"quantize.grouped_mm.mx\"]", "[quantize.linear.mx]\n" + filters), "fp8:mx gradients=fp32");
  EXPECT_EQ(experts("[\"quantize.grouped_mm.mx\"]", ""), "fp8:mx gradients=fp32 products:attention,mlp=bf16");
}

}  // namespace
}  // namespace sim
