// The rules of check_graph, one file each. Each adds what it finds broken.
#pragma once

#include <algorithm>

#include "sim/check/findings.h"
#include "sim/check/task_order.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"

namespace sim {

struct CheckedGraph {
  const ModelGraph& model;
  const ParallelPlan& plan;
  const TaskGraph& graph;
};

// Of blocks by their numbers from 0, behind the embedding.
inline bool names(const BlockRanges& blocks, LayerIndex layer) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const BlockRange& range) { return range.first < layer.value() && layer.value() <= range.last + 1; });
}

// A unit that the plan has in fp32 beside others in 16 bit.
inline bool is_wide(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer) {
  const PrecisionPolicy& policy = plan.workload.precision;
  if (layer == LayerIndex(0) || layer == model.head()) return policy.is_full(layer == LayerIndex(0) ? EndUnit::Embedding : EndUnit::Head);
  return names(policy.full_blocks(), layer);
}

// A block that has none beside others that have.
inline bool has_no_scales(const ParallelPlan& plan, LayerIndex layer) { return names(plan.workload.precision.unscaled_blocks(), layer); }

// Each rank has one device that stands for it.
void check_devices(const CheckedGraph& checked, Findings& findings);
// The tasks of each device are those that the plan asks for, with their payloads; F and B in the order of the schedule.
void check_work(const CheckedGraph& checked, Findings& findings);
// What each task needs has always ended when it starts.
void check_needs(const CheckedGraph& checked, const TaskOrder& order, Findings& findings);
// Buckets hold every parameter of their stage once, in slots that do not overlap.
void check_buckets(const CheckedGraph& checked, Findings& findings);
// The same across the end of a step, of plans whose steps cross: new weights are there before a layer reads them.
void check_needs_between_steps(const CheckedGraph& checked, Findings& findings);
// ZeRO-3 where ranks have anything to share: the weights of all layers, or of whole experts beside tensor ranks alone.
bool gathers_weights(const ParallelPlan& plan);
// ZeRO-3: weights are there when a layer computes, are gathered once until they are freed, and are freed at the end.
void check_gathers(const CheckedGraph& checked, const TaskOrder& order, Findings& findings);
// Each send has its receive, with the same bytes, on the right rank.
void check_transfers(const CheckedGraph& checked, Findings& findings);
// Members of a group meet in the same collectives in the same order.
void check_collectives(const CheckedGraph& checked, Findings& findings);

}  // namespace sim
