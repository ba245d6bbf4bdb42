#include "sim/calibration/measured_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/task_graph/source_edges.h"
#include "sim/units/at.h"

namespace sim {
namespace {

// A CPU's exchange is performed at once.
bool computes_beside_exchanges(const ParallelPlan& plan) {
  return plan.exchanges_beside_weights() && plan.cluster.hardware.kind == DeviceKind::Gpu;
}

bool is_beside(const TaskKey& exchange, const TaskKey& before) {
  return exchange.group == MeshAxis::Tensor && exchange.phase == Phase::Backward && exchange.operation != Operation::AllGather &&
         before.phase == exchange.phase && !is_communication(before.operation);
}

bool is_transfer(Operation operation) { return operation == Operation::Send || operation == Operation::Receive; }

// One step of all ranks.
class StepWork {
 public:
  StepWork(const ParallelPlan& plan, std::vector<MeasuredWork>& work)
      : plan_(plan), work_(work), has_beside_(computes_beside_exchanges(plan)) {}

  void add(Rank rank, const MeasuredStep& step) {
    const Span* before = nullptr;  // of the rank: spans are in issue order
    for (const Span& span : step.spans) {
      const Span* const in_front = std::exchange(before, &span);
      const bool communicates = is_communication(span.key.operation);
      if (communicates && span.key.group == MeshAxis::World) world_end_[rank] = span.end;
      if (span.key.operation == Operation::Send) sends_[transfer(rank, span.key)] = {rank, span};
      if (has_beside_ && in_front != nullptr && is_beside(span.key, in_front->key))
        join(collective(rank, span.key), span);
      else if (span.key.operation == Operation::Receive)
        receives_.push_back({rank, span});
      else if (communicates && !is_transfer(span.key.operation))
        shorten(collectives_, collective(rank, span.key), span);
      else
        work_.push_back({span.key, span.end - span.start});
    }
  }

  void finish() {
    for (const auto& [meeting, shortest] : collectives_) work_.push_back(shortest);
    for (const auto& [place, meeting] : joined_) work_[place].duration += beside_.at(meeting).duration;
    for (const RankSpan& receive : receives_)
      if (const auto duration = received_in(receive)) work_.push_back({receive.span.key, *duration});
  }

 private:
  struct RankSpan {
    Rank rank;
    Span span;
  };
  using Meeting = std::tuple<Rank, TaskKey>;  // first rank of the group, and the key without what differs among its members

  Meeting collective(Rank rank, TaskKey key) const {
    if (key.group == MeshAxis::World || key.group == MeshAxis::Embedding)
      key = {.stage = StageIndex(0),
             .phase = key.phase,
             .operation = key.operation,
             .group = key.group,
             .sequence = key.group == MeshAxis::World ? key.sequence : 0};
    MeshCoordinate first = plan_.mesh.coordinate(rank);
    if (key.group == MeshAxis::World) first.data = 0;
    if (key.group == MeshAxis::Data) first.data -= first.data % plan_.mesh.shards();
    if (key.group == MeshAxis::Replica) first.data %= plan_.mesh.shards();
    if (key.group == MeshAxis::Reshard) first.data -= first.data % plan_.mesh.reshard;
    if (key.group == MeshAxis::Distant) first.data -= first.data % plan_.mesh.shards() / plan_.mesh.reshard * plan_.mesh.reshard;
    if (key.group == MeshAxis::ContextInner) first.data -= first.data % plan_.mesh.context_inner;
    if (key.group == MeshAxis::ContextOuter)
      first.data -= first.data % plan_.mesh.context / plan_.mesh.context_inner * plan_.mesh.context_inner;
    if (key.group == MeshAxis::Tensor || key.group == MeshAxis::World) first.tensor = 0;
    if (key.group == MeshAxis::Embedding || key.group == MeshAxis::World) first.stage = StageIndex(0);
    return {plan_.mesh.rank_of(first), key};
  }

  // Both ends of a transfer get the same name: the receiver's rank and virtual stage.
  Meeting transfer(Rank rank, TaskKey key) const {
    std::int32_t virtual_stage = plan_.virtual_stage({key.stage, key.chunk});
    if (is_of_source(key))
      virtual_stage = key.phase == Phase::Forward ? key.sequence : source_edges(plan_).from.value();
    else if (key.operation == Operation::Send)
      virtual_stage += key.phase == Phase::Forward ? 1 : -1;
    MeshCoordinate receiver = plan_.mesh.coordinate(rank);
    const ChunkSite site = plan_.site(virtual_stage);
    receiver.stage = site.stage;
    return {plan_.mesh.rank_of(receiver),
            {.chunk = site.chunk, .microbatch = key.microbatch, .phase = key.phase, .sequence = key.sequence}};
  }

  using Shortest = std::map<Meeting, MeasuredWork>;
  static void shorten(Shortest& all, const Meeting& meeting, const Span& span) {
    const MeasuredWork mine{span.key, span.end - span.start};
    const auto [entry, is_first] = all.try_emplace(meeting, mine);
    if (!is_first && mine.duration < entry->second.duration) entry->second = mine;
  }

  // With the task in front of it, which was added last.
  void join(const Meeting& meeting, const Span& exchange) {
    shorten(beside_, meeting, exchange);
    joined_.emplace_back(position_in(work_, work_.end() - 1), meeting);
    work_.back().with = exchange.key;
  }

  // Nothing where the clocks cannot be aligned, or say that it arrived before it was sent.
  std::optional<SimTime> received_in(const RankSpan& receive) const {
    const auto send = sends_.find(transfer(receive.rank, receive.span.key));
    if (send == sends_.end()) return std::nullopt;
    const auto here = world_end_.find(receive.rank), there = world_end_.find(send->second.rank);
    if (here == world_end_.end() || there == world_end_.end()) return std::nullopt;
    const SimTime sent = send->second.span.end - there->second + here->second;
    const SimTime duration = receive.span.end - std::max(receive.span.start, sent);
    return duration > SimTime(0) ? std::optional(duration) : std::nullopt;
  }

  const ParallelPlan& plan_;
  std::vector<MeasuredWork>& work_;
  std::map<Rank, SimTime> world_end_;
  bool has_beside_;
  Shortest collectives_, beside_;
  std::vector<std::pair<std::size_t, Meeting>> joined_;  // places in work_, and the exchange that each ends with
  std::map<Meeting, RankSpan> sends_;
  std::vector<RankSpan> receives_;
};

}  // namespace

std::vector<MeasuredWork> measured_work(const ParallelPlan& plan, const std::vector<RankTrace>& traces) {
  std::vector<MeasuredWork> work;
  std::map<std::int64_t, StepWork> steps;
  for (const RankTrace& trace : traces)
    for (std::size_t at = trace.steps.size() > 1 ? 1 : 0; at < trace.steps.size(); ++at)
      steps.try_emplace(trace.steps[at].step, plan, work).first->second.add(trace.rank, trace.steps[at]);
  for (auto& [number, step] : steps) step.finish();
  return work;
}

}  // namespace sim
