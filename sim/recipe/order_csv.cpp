// The pipeline's order alone, for torch.distributed.pipelining (`_PipelineScheduleRuntime._load_csv`). Read by `simulate --order`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/recipe/program.h"

namespace sim {
namespace {

void judge_order(const ParallelPlan& plan, Judgement& judgement) {
  judgement.refuse(plan.mesh.pipeline == 1, "/mesh/pipeline", "one stage has no order among stages", "plan with --fix pipeline=2 or more");
  judgement.note(true, "", "the file holds the order of the pipeline, and nothing else of the plan",
                 "set degrees and batch in the program that loads it");
}

std::vector<RecipeFile> order_files(const RecipeHead&, const RecipeSettings&, const ParallelPlan& plan) {
  return {{std::string(kPipelineOrder.file), order_csv(plan)}};
}

}  // namespace

std::string order_csv(const ParallelPlan& plan) { return fmt::format("{}\n", fmt::join(order_rows(plan.order_table()), "\n")); }

const Program kPipelineOrder = {.name = "csv",
                                .title = "PyTorch (CSV)",
                                .version = "2.11",
                                .file = "pipeline_order.csv",
                                .marks = "",
                                .fields = {},
                                .judge = judge_order,
                                .files = order_files,
                                .settings = nullptr,
                                .settle = nullptr,
                                .says_dispatch = true,
                                .says_exchange_beside = true};

}  // namespace sim
