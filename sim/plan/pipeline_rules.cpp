// Rules of a pipeline: its schedule, or the order that is written instead, its passes, and which layers its chunks have.
#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/rules.h"
#include "sim/schedule/order_table.h"
#include "sim/units/counted.h"

namespace sim {
namespace {

// What is written must be an order of just this plan, and performable.
void check_written_order(const ParallelPlan& plan, Rules& rules) {
  const OrderTable& order = *plan.written_order;
  const auto stages = static_cast<std::int32_t>(order.stages.size());
  const bool right_size = stages == plan.mesh.pipeline && order.chunks == plan.chunks && order.microbatches == plan.num_microbatches();
  rules.must(right_size, "/order",
             fmt::format("has {}, {} a row and {}; the plan has {}, {} and {}", counted(stages, "row"), counted(order.chunks, "chunk"),
                         counted(order.microbatches, "microbatch"), counted(plan.mesh.pipeline, "stage"), counted(plan.chunks, "chunk"),
                         counted(plan.num_microbatches(), "microbatch")),
             "write an order for that shape, or change the plan");
  if (!right_size) return;
  const std::vector<Violation> faults = order_faults(order);
  for (const Violation& fault : faults) rules.must(false, "/order", located(fault), fault.remedy);
  if (!faults.empty() || !plan.shares_embedding() || plan.ties_across_stages()) return;
  const ChunkIndex last_chunk = order.stages.front().back().chunk;
  rules.must(last_chunk == ChunkIndex(0), "/order",
             "ends row 0 with another chunk than the embedding's, whose gradient another reader of its table adds to",
             "end row 0 with an action of virtual stage 0");
}

// Embedding and head may stand alone. A part without a layer hands on what it gets: one chunk a stage, as programs cut that have such.
void check_cut(const ParallelPlan& plan, Rules& rules) {
  const std::vector<LayerIndex>& first = plan.cut.first;
  const bool right_size = std::ssize(first) == plan.num_virtual_stages();
  rules.must(right_size, "/cut",
             fmt::format("names {}, the pipeline has {}", counted(std::ssize(first), "chunk"), plan.num_virtual_stages()),
             "give the first layer of each chunk");
  if (!right_size) return;
  const bool begins = first.front() == LayerIndex(0) && (first.size() == 1 || first[1] > LayerIndex(0));
  rules.must(begins && std::is_sorted(first.begin(), first.end()) && first.back() <= plan.head(), "/cut",
             "must start with layer 0 (the embedding), ascend, and leave the head to the last chunk",
             "use ascending first layers: 0 .. L + 1");
  const bool has_empty = std::adjacent_find(first.begin(), first.end()) != first.end();
  rules.must(!has_empty || plan.chunks == 1, "/cut", fmt::format("has a chunk without a layer among {} a stage", plan.chunks),
             "give each chunk a layer, or use one chunk a stage");
}

// Each pass is a step of the schedule by itself.
void check_passes(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(plan.passes == 1 || holds, "/passes", problem, remedy);
  };
  needs(plan.mesh.pipeline > 1, "are of a pipeline, and there is one stage", "leave it out: microbatches of one stage follow each other");
  needs(plan.num_microbatches() % plan.passes == 0,
        fmt::format("{} of {} have unequally many", counted(plan.passes, "pass"), counted(plan.num_microbatches(), "microbatch")),
        "use a divisor of the microbatches");
  needs(!plan.written_order, "are not known to an order that is written for all microbatches",
        "leave it out: write each pass into the order");
  needs(!plan.expert_overlap, "end without a forward to run beside, and expert_overlap would take the next pass's",
        "leave one of both out");
}

}  // namespace

void check_pipeline(const ParallelPlan& plan, Rules& rules) {
  const Schedule* schedule = find_schedule(plan.schedule);
  rules.must(plan.written_order.has_value() == (plan.schedule == kOrderFromCsv), "/order", "belongs to schedule csv, and that needs it",
             "give both or none");
  if (!rules.clean()) return;
  if (schedule == nullptr && !plan.written_order) {
    std::string names;
    for (const Schedule& known : all_schedules()) names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
    rules.must(false, "/schedule", fmt::format("unknown schedule '{}'", plan.schedule), "use one of " + names);
    return;
  }
  const std::int64_t parts = std::int64_t{plan.mesh.pipeline} * plan.chunks;
  rules.must(parts <= plan.model.inner_layers() + 2, "/mesh/pipeline",
             fmt::format("{} x {} = {}, but the model has {}, an embedding and a head", counted(plan.mesh.pipeline, "stage"),
                         counted(plan.chunks, "chunk"), counted(parts, "virtual stage"), counted(plan.model.layers, "block")),
             "use fewer stages or chunks");
  rules.must(plan.chunks == 1 || plan.mesh.pipeline > 1, "/chunks",
             fmt::format("{} chunks on one stage have nobody to interleave with", plan.chunks), "use chunks = 1");
  rules.must(plan.microbatch_group == 0 || (schedule != nullptr && schedule->takes_groups), "/microbatch_group",
             fmt::format("schedule {} has no groups of microbatches", plan.schedule), "leave it out, or use schedule interleaved");
  check_passes(plan, rules);
  if (rules.clean() && plan.written_order)
    check_written_order(plan, rules);
  else if (rules.clean())
    if (const auto why = schedule->why_unsupported(plan.pass_shape()))
      rules.must(false, "/schedule", fmt::format("{}: {}", plan.schedule, *why), "change the schedule, its chunks or the microbatches");
  if (rules.clean()) check_cut(plan, rules);
}

}  // namespace sim
