#include "sim/recipe/torchtitan_refusals.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

// Sections behind a file of 16 devices that torchtitan runs.
std::string why_not(const std::string& parallelism, const std::string& more = "",
                    const std::string& model = "name = \"llama3\"\nflavor = \"8B\"") {
  return testing::refusal_of("[model]\n" + model + "\n[training]\nlocal_batch_size = 8\nseq_len = 64\n[parallelism]\n" + parallelism + more,
                             {.model = {}, .cluster = load_cluster("b200-180gb-sxm", DeviceCount{16})});
}
constexpr const char* kCompiled = "\n[compile]\nenable = true\n";

TEST(TorchtitanRefusals, WholeWeightsBesideOtherRanks) {
  const std::string whole = "data_parallel_shard_degree = 1\n";
  EXPECT_THAT(why_not(whole + "data_parallel_replicate_degree = 8\ntensor_parallel_degree = 2\n"),
              HasSubstr("beside tensor or pipeline ranks"));
  EXPECT_THAT(why_not(whole + "data_parallel_replicate_degree = 8\npipeline_parallel_degree = 2\n"),
              HasSubstr("beside tensor or pipeline ranks"));
  EXPECT_THAT(why_not("data_parallel_replicate_degree = 8\ntensor_parallel_degree = 2\n"), HasSubstr("beside tensor"))
      << "shards over the rest, 1";
  EXPECT_EQ(why_not(whole + "data_parallel_replicate_degree = 16\n"), "");
  EXPECT_EQ(why_not(whole + "data_parallel_replicate_degree = 1\ntensor_parallel_degree = 8\npipeline_parallel_degree = 2\n"), "");
  EXPECT_EQ(why_not("data_parallel_replicate_degree = 2\ntensor_parallel_degree = 2\n"), "");
}

TEST(TorchtitanRefusals, ExchangesAlongProductsThatAreNotCompiled) {
  const std::string asks = "tensor_parallel_degree = 2\nenable_async_tensor_parallel = true\n";
  EXPECT_THAT(why_not(asks), HasSubstr("not compiled"));
  EXPECT_THAT(why_not(asks, "\n[compile]\nenable = true\ncomponents = [\"loss\"]\n"), HasSubstr("not compiled"));
  EXPECT_EQ(why_not(asks, kCompiled), "");
  EXPECT_EQ(why_not("enable_async_tensor_parallel = true\n"), "") << "no tensor ranks: torchtitan does not look";
}

TEST(TorchtitanRefusals, ScalesThatOneOptionAndARecipeSay) {
  const std::string of_8_bit = "name = \"llama3\"\nflavor = \"8B\"\nconverters = [\"quantize.linear.float8\"]";
  const std::string gathers = "[quantize.linear.float8]\nenable_fsdp_float8_all_gather = true\n";
  EXPECT_THAT(why_not("", gathers + "recipe_name = \"rowwise\"\n", of_8_bit), HasSubstr("beside float8.recipe_name"));
  EXPECT_EQ(why_not("", gathers, of_8_bit), "");
}

TEST(TorchtitanRefusals, ScalesOfExpertsAndBlocks) {
  const std::string experts = "name = \"deepseek_v3\"\nflavor = \"16B\"\nconverters = [\"quantize.grouped_mm.float8\"]";
  EXPECT_THAT(why_not("pipeline_parallel_degree = 2\n", "", experts), HasSubstr("beside pipeline or context ranks"));
  EXPECT_EQ(why_not("expert_parallel_degree = 2\n", "", experts), "");
  const std::string blocks = "name = \"llama3\"\nflavor = \"8B\"\nconverters = [\"quantize.linear.mx\"]";
  EXPECT_THAT(why_not("tensor_parallel_degree = 2\n", kCompiled, blocks), HasSubstr("scales by mx in compiled blocks"));
  EXPECT_EQ(why_not("", kCompiled, blocks), "");
}

}  // namespace
}  // namespace sim
