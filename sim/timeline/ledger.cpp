#include "sim/timeline/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim {
namespace {

std::int32_t group_size(const ParallelPlan& plan, MeshAxis axis) {
  switch (axis) {
    case MeshAxis::None: return 1;
    case MeshAxis::Data: return plan.mesh.shards();
    case MeshAxis::Replica: return plan.mesh.replicas;
    case MeshAxis::Reshard: return plan.mesh.reshard;
    case MeshAxis::Distant: return plan.mesh.shards() / plan.mesh.reshard;
    case MeshAxis::Tensor: return plan.mesh.tensor;
    case MeshAxis::Context: return plan.mesh.context;
    case MeshAxis::ContextInner: return plan.mesh.context_inner;
    case MeshAxis::ContextOuter: return plan.mesh.context_outer();
    case MeshAxis::Expert: return plan.mesh.expert;
    case MeshAxis::ExpertTensor: return plan.mesh.expert_cut();
    case MeshAxis::ExpertData: return plan.mesh.expert_copies();
    case MeshAxis::Pipeline:
    case MeshAxis::Embedding: return 2;
    case MeshAxis::World: return plan.mesh.ranks();
  }
  return 1;
}

// Of rows that experts may drop the prediction is the most there can be; all else is exact.
bool agree(const LedgerEntry& predicted, const LedgerEntry& measured, const ParallelPlan& plan) {
  const bool is_most =
      predicted.key.group == MeshAxis::Expert && plan.model.experts->is_limited() && plan.model.experts->dispatch == ExpertDispatch::Drop;
  const bool fits = is_most ? measured.payload <= predicted.payload : measured.payload == predicted.payload;
  return fits && measured.key == predicted.key && measured.group_size == predicted.group_size;
}

std::string entry_or_end(const std::vector<LedgerEntry>& ledger, std::size_t at) {
  return at < ledger.size() ? to_text(ledger[at]) : std::string("nothing more");
}

// Parts of gradients start by priority, some of them in the step behind: in another order than the slice's, and each once a step.
std::vector<LedgerEntry> comparable(std::vector<LedgerEntry> ledger, const ParallelPlan& plan) {
  if (plan.sums_by_priority()) std::ranges::sort(ledger, {}, &LedgerEntry::key);
  return ledger;
}

}  // namespace

std::vector<LedgerEntry> predicted_ledger(const TaskGraph& graph, const ParallelPlan& plan, Rank rank) {
  std::vector<LedgerEntry> ledger;
  for (const Task& task : rank_slice(graph, plan, rank))
    if (is_communication(task.key.operation)) ledger.push_back({task.key, group_size(plan, task.key.group), task.payload});
  return ledger;
}

std::string to_text(const LedgerEntry& entry) {
  return fmt::format("{} over {} ranks, {} B", to_text(entry.key), entry.group_size, entry.payload.value());
}

std::optional<std::string> why_ledgers_differ(const TaskGraph& graph, const ParallelPlan& plan, const std::vector<RankTrace>& measured) {
  for (const RankTrace& trace : measured) {
    const std::vector<LedgerEntry> predicted = comparable(predicted_ledger(graph, plan, trace.rank), plan);
    for (const MeasuredStep& step : trace.steps) {
      const std::vector<LedgerEntry> entries = comparable(step.ledger, plan);
      std::size_t at = 0;
      while (at < predicted.size() && at < entries.size() && agree(predicted[at], entries[at], plan)) ++at;
      if (at == predicted.size() && at == entries.size()) continue;
      return fmt::format("rank {}, step {}, entry {}: predicted {}, measured {}", trace.rank.value(), step.step, at,
                         entry_or_end(predicted, at), entry_or_end(entries, at));
    }
  }
  return std::nullopt;
}

}  // namespace sim
