#include <gmock/gmock.h>

#include <utility>

#include "sim/plan/parallel_plan.h"
#include "tests/cli/parsed_options.h"

namespace cli {
namespace {

TEST(PlanOptions, PlanTakesEveryOption) {
  const auto plan = parsed<PlanOptions>(
      plan_with({"--gpus", "16", "--fix", "tensor=4", "--fix", "pipeline=2", "--top", "3", "--runnable", "--memory-limit", "80 GiB"}));
  EXPECT_EQ(plan.devices, 16);
  EXPECT_EQ(plan.fixed, (std::map<std::string, std::string>{{"tensor", "4"}, {"pipeline", "2"}}));
  EXPECT_EQ(plan.top, 3);
  EXPECT_TRUE(plan.runnable);
  EXPECT_EQ(plan.memory_limit, "80 GiB");
}

TEST(PlanOptions, ExportGoesToAProgramOfTheTable) {
  EXPECT_EQ(parsed<ExportOptions>({"export", "run", "-o", "x"}).to, "");
  EXPECT_EQ(parsed<ExportOptions>({"export", "plan.json", "--to", "megatron", "-o", "x"}).to, "megatron");
  EXPECT_EQ(usage_error({"export", "plan.json", "--to", "horovod", "-o", "x"}, "--to"), kUsage);
  EXPECT_EQ(parsed<ImportOptions>({"import", "a.sh", "--model", "m", "--cluster", "c", "--microbatch", "2", "-o", "p"}).microbatch, 2);
}

}  // namespace
}  // namespace cli
