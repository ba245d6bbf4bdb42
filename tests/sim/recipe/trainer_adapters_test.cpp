#include "sim/recipe/trainer_adapters.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ImportedPlan by_line(const std::string& start, const std::string& more) {
  return testing::imported("accelerate launch --num_processes 8 " + start +
                               " --model_name_or_path a/b --per_device_train_batch_size 2 --max_length 32 --bf16 true --output_dir out " +
                               more + "\n",
                           {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
}
constexpr const char* kOfTrl = "trl/scripts/sft.py";

// ModelConfig of TRL: pairs where use_peft asks for them, whatever their rank says.
TEST(TrainerAdapters, TrlTrainsPairsWhereItIsAskedTo) {
  const ImportedPlan whole = by_line(kOfTrl, "--lora_r 8");
  EXPECT_FALSE(whole.plan.model.adapters.has_value());
  EXPECT_THAT(testing::text_of(whole.notes), HasSubstr("add --use_peft"));
  const ImportedPlan pairs = by_line(kOfTrl, "--use_peft --lora_r 8");
  EXPECT_EQ(pairs.plan.model.adapters->rank, 8);
  EXPECT_DOUBLE_EQ(pairs.plan.model.adapters->dropout, 0.05);
  EXPECT_EQ(pairs.plan.model.adapters->alpha, 32);
  EXPECT_TRUE(by_line("mine.py", "--lora_r 8").plan.model.adapters.has_value());  // a script of its own has them for its pairs
}

// BitsAndBytesConfig packs scales again where it is told to; LLaMA-Factory and its likes tell it by themselves.
TEST(TrainerAdapters, ScalesOfPackedWeightsThatNobodyPacksAgain) {
  constexpr const char* kPairs = "--use_peft --lora_r 8 --load_in_4bit ";
  const auto told = [&](const std::string& more) { return testing::text_of(by_line(kOfTrl, kPairs + more).lost); };
  EXPECT_THAT(told(""), HasSubstr("bnb_4bit_use_double_quant: is not in the file"));
  EXPECT_THAT(told("--use_bnb_nested_quant true"), Not(HasSubstr("scales")));
  const ImportedPlan factory = testing::imported(
      "stage: sft\nfinetuning_type: lora\nper_device_train_batch_size: 1\ncutoff_len: 32\nbf16: true\nquantization_bit: 4\n",
      {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  EXPECT_THAT(testing::text_of(factory.lost), Not(HasSubstr("scales")));
}

// Asked for in LLaMA-Factory, and by themselves behind PEFT's preparation of packed weights, which TRL calls.
TEST(TrainerAdapters, NormsInFp32) {
  const RecipeContext on{.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const auto factory = [&](const std::string& more) {
    return testing::imported("stage: sft\nper_device_train_batch_size: 1\ncutoff_len: 32\nbf16: true\n" + more, on);
  };
  const auto precision = [](const ImportedPlan& read) { return to_text(read.plan.workload.precision); };
  EXPECT_EQ(precision(factory("finetuning_type: lora\n")), "bf16");
  EXPECT_EQ(precision(factory("finetuning_type: lora\nupcast_layernorm: true\n")), "bf16 norms=fp32");
  EXPECT_EQ(precision(factory("finetuning_type: lora\nupcast_layernorm: true\nquantization_bit: 4\n")), "bf16 stream=fp32 norms=fp32");
  const ImportedPlan full = factory("finetuning_type: full\nupcast_layernorm: true\n");
  EXPECT_EQ(full.plan.workload.precision.of(WideKind::Norms), std::nullopt);
  EXPECT_THAT(testing::text_of(full.lost), HasSubstr("upcast_layernorm: keeps norms in fp32"));
  const ImportedPlan sharded = factory("finetuning_type: lora\nupcast_layernorm: true\nfsdp: full_shard auto_wrap\n");
  EXPECT_THAT(testing::text_of(sharded.lost), HasSubstr("upcast_layernorm: keeps norms in fp32"));
  EXPECT_EQ(precision(by_line(kOfTrl, "--use_peft --lora_r 8 --load_in_4bit --bf16")), "bf16 stream=fp32 norms=fp32");
  EXPECT_EQ(precision(by_line(kOfTrl, "--use_peft --lora_r 8 --bf16")), "bf16");
}

// Axolotl gives a BitsAndBytesConfig of its own to qlora alone (src/axolotl/loaders/model.py).
TEST(TrainerAdapters, FourBitsOfAxolotlWithoutQlora) {
  const auto told = [](const std::string& adapter) {
    return testing::text_of(
        testing::imported("base_model: a\nsequence_len: 32\nmicro_batch_size: 1\nbf16: true\nload_in_4bit: true\nlora_r: 8\n"
                          "lora_target_linear: true\nadapter: " +
                              adapter + "\n",
                          {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{1})})
            .lost);
  };
  EXPECT_THAT(told("lora"), HasSubstr("load_in_4bit: stands beside adapter: lora"));
  EXPECT_THAT(told("qlora"), Not(HasSubstr("load_in_4bit")));
}

}  // namespace
}  // namespace sim
