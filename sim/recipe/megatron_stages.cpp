#include "sim/recipe/megatron_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::int64_t kMostChunks = 10'000;

void settle_uneven(Draft& draft) {
  const std::int64_t stages = draft.plan.mesh.pipeline, layers = draft.plan.model.layers, chunks = draft.plan.chunks;
  const std::int64_t named = (draft.first_blocks ? 1 : 0) + (draft.last_blocks ? 1 : 0);
  const std::int64_t rest = layers - draft.first_blocks.value_or(0) - draft.last_blocks.value_or(0), others = stages - named;
  if (others < 1 || rest < others * chunks || rest % (others * chunks) != 0 || draft.first_blocks.value_or(chunks) % chunks != 0 ||
      draft.last_blocks.value_or(chunks) % chunks != 0)
    return draft.wrong.push_back({"decoder-first-pipeline-num-layers",
                                  fmt::format("first {} and last {} of {} blocks leave {} for {} stages of {} chunks",
                                              draft.first_blocks.value_or(0), draft.last_blocks.value_or(0), layers, rest, others, chunks),
                                  "correct them"});
  for (std::int64_t part = 0; part < stages * chunks; ++part) {
    const std::int64_t stage = part % stages;
    const std::int64_t blocks = stage == 0 && draft.first_blocks           ? *draft.first_blocks
                                : stage == stages - 1 && draft.last_blocks ? *draft.last_blocks
                                                                           : rest / others;
    draft.blocks.push_back(blocks / chunks);
  }
}

// Embedding and loss counted as blocks: the first part has one fewer, and the last.
void settle_counted(Draft& draft) {
  const std::int64_t parts = std::int64_t{draft.plan.mesh.pipeline} * draft.plan.chunks;
  const std::int64_t counted = draft.plan.model.layers + (draft.embedding_counts ? 1 : 0) + (draft.loss_counts ? 1 : 0);
  if (counted % parts != 0)
    return draft.wrong.push_back({"account-for-embedding-in-pipeline-split",
                                  fmt::format("{} blocks with embedding and loss do not go into {} chunks", counted, parts),
                                  "correct them"});
  draft.blocks.assign(count_of(parts), counted / parts);
  draft.blocks.front() -= draft.embedding_counts ? 1 : 0;
  draft.blocks.back() -= draft.loss_counts ? 1 : 0;
}

}  // namespace

void settle_stages(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const std::int64_t counted = plan.model.layers + (draft.embedding_counts ? 1 : 0) + (draft.loss_counts ? 1 : 0);
  if (draft.blocks_of_chunk)
    plan.chunks =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(counted / (plan.mesh.pipeline * *draft.blocks_of_chunk), 1, kMostChunks));
  if (plan.mesh.pipeline == 1) plan.chunks = 1;
  const bool is_two_ways = plan.schedule == "dualpipev" && plan.mesh.pipeline > 1;
  if (is_two_ways) plan.chunks = 2;
  plan.schedule = is_two_ways ? "dualpipev" : plan.chunks > 1 ? "interleaved" : "1f1b";
  if (plan.chunks == 1 && std::exchange(plan.microbatch_group, 0) > 0)
    draft.notes.push_back({"microbatch-group-size-per-virtual-pipeline-stage", "is of interleaved chunks, and there is one a stage",
                           "the order is 1f1b without it"});
  if (plan.mesh.pipeline == 1 || !draft.blocks.empty()) return;
  const std::int64_t parts = std::int64_t{plan.mesh.pipeline} * plan.chunks;
  const bool is_even = draft.first_blocks || draft.last_blocks || counted != plan.model.layers || counted % parts == 0;
  if (!is_even && said(draft, "deepspeed") == nullptr && said(draft, "deepspeed-config") == nullptr)
    draft.unknown.push_back(
        {"num-layers",
         fmt::format("is {} on {} virtual stages, which Megatron-LM refuses: the plan's have one more or less", counted, parts),
         "give a number that they divide, or --decoder-first-pipeline-num-layers"});
  if (draft.first_blocks || draft.last_blocks)
    settle_uneven(draft);
  else if (draft.embedding_counts || draft.loss_counts)
    settle_counted(draft);
}

}  // namespace sim
