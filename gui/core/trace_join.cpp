#include "gui/core/trace_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "sim/cost/task_kernels.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

using Spans = std::vector<const sim::Span*>;

// How many products stand before and behind the attention of a task's forward; all of them before, where it has none.
struct Anchors {
  std::int64_t before = 0, behind = 0;
  bool attends = false;
};

Anchors anchorsOf(const SimulatedPlan& plan, const sim::TaskKey& key) {
  Anchors anchors;
  for (const sim::KernelCall& call : sim::kernels_of(plan.model, plan.plan, {key.layer, sim::Phase::Forward, key.operation}).calls) {
    const sim::KernelFamily family = sim::family_of(call.kernel);
    anchors.attends |= family == sim::KernelFamily::FusedAttention;
    if (family == sim::KernelFamily::MatrixProduct) ++(anchors.attends ? anchors.behind : anchors.before);
  }
  return anchors;
}

// Programs differ in what is one product: queries, keys and values; the two halves of a gated feed-forward.
struct Habit {
  std::int64_t query_key_value = 1, more_of_mlp = 0;
};
constexpr std::array kHabits = std::to_array<Habit>({{1, 0}, {3, 0}, {1, 1}, {3, 1}});

// Classes of kernels that stand for a task, in the order in which they run.
std::vector<WorkKind> expected(const SimulatedPlan& plan, const sim::TaskKey& key, const Habit& habit) {
  Anchors anchors = anchorsOf(plan, key);
  if (anchors.attends) anchors.before *= habit.query_key_value;
  if (key.operation == sim::Operation::Mlp) anchors.before += habit.more_of_mlp;
  if (key.phase == sim::Phase::Weight) return std::vector<WorkKind>(sim::count_of(anchors.before + anchors.behind), WorkKind::Product);
  if (key.phase == sim::Phase::Backward) {
    const std::int64_t each = plan.plan.splits_backward() ? 1 : 2;  // of the input, of the weight
    anchors = {each * anchors.behind, each * anchors.before, anchors.attends};
    if (!anchors.attends) std::swap(anchors.before, anchors.behind);
  }
  std::vector<WorkKind> kinds(sim::count_of(anchors.before), WorkKind::Product);
  if (anchors.attends) kinds.push_back(WorkKind::Attention);
  kinds.insert(kinds.end(), sim::count_of(anchors.behind), WorkKind::Product);
  return kinds;
}

// What a rank computes of layers, in order; what it exchanges.
Spans tasksOf(const SimulatedPlan& plan, sim::DeviceId device, bool (*takes)(const sim::Span&)) {
  Spans tasks;
  for (const sim::Span& span : plan.result.timeline.spans)
    if (span.device == device && takes(span)) tasks.push_back(&span);
  std::stable_sort(tasks.begin(), tasks.end(), [](const sim::Span* a, const sim::Span* b) { return a->start < b->start; });
  return tasks;
}

bool isOfLayers(const sim::Span& span) {
  const sim::Phase phase = span.key.phase;
  const bool is_pass =
      phase == sim::Phase::Forward || phase == sim::Phase::Backward || phase == sim::Phase::Weight || phase == sim::Phase::Recompute;
  return span.stream == sim::Stream::Compute && is_pass && span.key.layer.exists() && !sim::moves_data(span.key.operation) &&
         span.key.operation < sim::Operation::Accumulate;
}

// Kernels of a rank, and which task each was joined with.
class RankJoin {
 public:
  RankJoin(const SimulatedPlan& plan, const TracedRank& rank, sim::DeviceId device)
      : plan_(plan), rank_(rank), device_(device), task_of_(rank.kernels.size(), nullptr) {}

  void join() {
    joinComputing();
    for (const auto& [word, operation] : kCollectives) joinCollective(word, operation);
  }
  const std::string& whyNot() const { return why_not_; }
  const sim::Span* taskOf(std::size_t kernel) const { return task_of_[kernel]; }

 private:
  static constexpr std::pair<std::string_view, sim::Operation> kCollectives[] = {
      {"allreduce", sim::Operation::AllReduce}, {"reducescatter", sim::Operation::ReduceScatter}, {"allgather", sim::Operation::AllGather},
      {"broadcast", sim::Operation::Broadcast}, {"sendrecv", sim::Operation::AllToAll},           {"sendrecv", sim::Operation::Receive}};

  static std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
  }

  // Positions of products, and of attentions, of which kernels without a product between them are one.
  std::vector<std::size_t> anchors() const {
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at < rank_.kernels.size(); ++at) {
      const WorkKind kind = rank_.kernels[at].kind;
      const bool goes_on = kind == WorkKind::Attention && !found.empty() && rank_.kernels[found.back()].kind == WorkKind::Attention;
      if (kind == WorkKind::Product || (kind == WorkKind::Attention && !goes_on)) found.push_back(at);
    }
    return found;
  }

  struct TaskAnchors {
    const sim::Span* task;
    std::size_t first, last;  // kernels
  };
  std::optional<std::vector<TaskAnchors>> placed(const Spans& tasks, const std::vector<std::size_t>& anchors, const Habit& habit) const {
    std::vector<TaskAnchors> placed;
    std::size_t next = 0;
    for (const sim::Span* task : tasks) {
      const std::vector<WorkKind> kinds = expected(plan_, task->key, habit);
      if (kinds.empty()) continue;
      if (next + kinds.size() > anchors.size()) return std::nullopt;
      for (std::size_t at = 0; at < kinds.size(); ++at)
        if (rank_.kernels[anchors[next + at]].kind != kinds[at]) return std::nullopt;
      placed.push_back({task, anchors[next], anchors[next + kinds.size() - 1]});
      next += kinds.size();
    }
    return next == anchors.size() ? std::optional(placed) : std::nullopt;
  }

  void joinComputing() {
    const Spans tasks = tasksOf(plan_, device_, isOfLayers);
    const std::vector<std::size_t> found = anchors();
    for (const Habit& habit : kHabits)
      if (const auto tasks_placed = placed(tasks, found, habit)) return give(*tasks_placed);
    std::size_t wanted = 0;
    for (const sim::Span* task : tasks) wanted += expected(plan_, task->key, kHabits.front()).size();
    why_not_ = fmt::format("rank {}: its products and attentions are not those of the plan: {} in the trace, {} in the plan",
                           rank_.rank.value(), found.size(), wanted);
  }

  // Between two tasks: a norm begins a forward task, and ends a backward one; without one, what follows a forward is its own.
  std::size_t boundary(const TaskAnchors& task, const TaskAnchors& next) const {
    const bool is_forward = task.task->key.phase == sim::Phase::Forward, into_forward = next.task->key.phase != sim::Phase::Backward;
    std::optional<std::size_t> first, last;
    for (std::size_t at = task.last + 1; at < next.first; ++at)
      if (rank_.kernels[at].kind == WorkKind::Norm) {
        if (!first) first = at;
        last = at;
      }
    if (into_forward) return first.value_or(next.first);
    return last ? *last + 1 : is_forward ? next.first : task.last + 1;
  }

  // A backward ends with its norms.
  std::size_t endOfLast(const TaskAnchors& task) const {
    std::size_t at = task.last + 1;
    while (at < rank_.kernels.size() && rank_.kernels[at].kind != WorkKind::Norm && !isOfOptimizer(rank_.kernels[at])) ++at;
    if (at == rank_.kernels.size() || isOfOptimizer(rank_.kernels[at])) return task.last + 1;
    while (at < rank_.kernels.size() && rank_.kernels[at].kind == WorkKind::Norm && !isOfOptimizer(rank_.kernels[at])) ++at;
    return at;
  }
  static bool isOfOptimizer(const TracedKernel& kernel) {
    return kernel.name.find("multi_tensor") != std::string::npos || kernel.name.find("_fused_adam") != std::string::npos;
  }

  void give(const std::vector<TaskAnchors>& placed) {
    std::size_t begin = placed.empty() ? 0 : placed.front().first;
    for (std::size_t before = begin; before-- > 0;)
      if (rank_.kernels[before].kind == WorkKind::Norm) begin = before;
    for (std::size_t at = 0; at < placed.size(); ++at) {
      const std::size_t end = at + 1 < placed.size() ? boundary(placed[at], placed[at + 1]) : endOfLast(placed[at]);
      for (std::size_t kernel = begin; kernel < end; ++kernel)
        if (isCompute(rank_.kernels[kernel].kind)) task_of_[kernel] = placed[at].task;
      begin = end;
    }
  }

  void joinCollective(std::string_view word, sim::Operation operation) {
    Spans tasks = tasksOf(plan_, device_, [](const sim::Span& span) { return sim::is_communication(span.key.operation); });
    std::erase_if(tasks, [&](const sim::Span* task) { return task->key.operation != operation; });
    std::vector<std::size_t> kernels;
    for (std::size_t at = 0; at < rank_.kernels.size(); ++at)
      if (isCommunication(rank_.kernels[at].kind) && task_of_[at] == nullptr &&
          lower(rank_.kernels[at].name).find(word) != std::string::npos)
        kernels.push_back(at);
    if (kernels.size() != tasks.size()) return;  // which of them is which nobody can tell
    for (std::size_t at = 0; at < kernels.size(); ++at) task_of_[kernels[at]] = tasks[at];
  }

  const SimulatedPlan& plan_;
  const TracedRank& rank_;
  sim::DeviceId device_;
  std::vector<const sim::Span*> task_of_;  // by kernel
  std::string why_not_;
};

sim::SimTime covered(std::vector<std::pair<sim::SimTime, sim::SimTime>> times) {
  std::sort(times.begin(), times.end());
  sim::SimTime all{}, until{};
  for (const auto& [start, end] : times) {
    all += std::max(sim::SimTime(0), end - std::max(start, until));
    until = std::max(until, end);
  }
  return all;
}

sim::IdleTime idleOf(const TracedRank& rank) {
  std::vector<std::pair<sim::SimTime, sim::SimTime>> computing, busy;
  for (const TracedKernel& kernel : rank.kernels) {
    if (isCompute(kernel.kind)) computing.emplace_back(kernel.start, kernel.end);
    if (isCompute(kernel.kind) || isCommunication(kernel.kind)) busy.emplace_back(kernel.start, kernel.end);
  }
  sim::IdleTime idle;
  idle.computing = covered(computing);
  const sim::SimTime at_work = covered(busy);
  sim::at(idle.by_cause, sim::IdleCause::ExposedCommunication) = at_work - idle.computing;
  sim::at(idle.by_cause, sim::IdleCause::Host) = std::max(sim::SimTime(0), rank.length - at_work);
  return idle;
}

void requireRank(const SimulatedPlan& plan, const TracedRank& rank) {
  if (rank.rank.value() >= plan.plan.mesh.ranks())
    throw sim::InputError(fmt::format("rank {}", rank.rank.value()),
                          {{"", fmt::format("is not of the plan, which has {}", sim::counted(plan.plan.mesh.ranks(), "rank")),
                            "choose the plan that the trace is of"}});
  if (rank.kernels.empty())
    throw sim::InputError(fmt::format("rank {}", rank.rank.value()),
                          {{"", "has no kernel of a GPU and no operator of PyTorch in its step", "record it with torch.profiler"}});
}

// From its first kernel to its last.
void addSpans(sim::Timeline& timeline, const TracedRank& rank, const RankJoin& join) {
  const sim::DeviceId device(static_cast<std::int32_t>(timeline.devices.size()) - 1);
  std::map<const sim::Span*, sim::Span> spans;
  for (std::size_t at = 0; at < rank.kernels.size(); ++at) {
    const sim::Span* const task = join.taskOf(at);
    if (task == nullptr) continue;
    const TracedKernel& kernel = rank.kernels[at];
    const auto [entry, is_new] = spans.try_emplace(task, sim::Span{device, task->stream, task->key, kernel.start, kernel.end});
    entry->second.start = std::min(entry->second.start, kernel.start);
    entry->second.end = std::max(entry->second.end, kernel.end);
  }
  for (const auto& [task, span] : spans) timeline.spans.push_back(span);
}

}  // namespace

SharedTraceStep joinTrace(const SimulatedPlan& plan, const std::string& name, const std::vector<TracedRank>& ranks, Progress* progress) {
  auto step = std::make_shared<TraceStep>();
  step->name = name;
  std::map<std::string, UnjoinedKernels> unjoined;
  std::int64_t joined = 0;
  const Watched known(progress);
  for (const TracedRank& rank : ranks) {
    requireRank(plan, rank);
    const sim::DeviceId device = deviceOf(plan, rank.rank);
    RankJoin join(plan, rank, device);
    join.join();
    if (!join.whyNot().empty()) step->why_not.push_back(join.whyNot());
    step->timeline.devices.push_back({rank.rank, plan.graph.devices()[device.position()].stage, 1});
    addSpans(step->timeline, rank, join);
    step->idle.push_back(idleOf(rank));
    step->length = std::max(step->length, rank.length);
    for (std::size_t at = 0; at < rank.kernels.size(); ++at) {
      const TracedKernel& kernel = rank.kernels[at];
      step->all += kernel.end - kernel.start;
      if (join.taskOf(at) != nullptr) {
        step->joined += kernel.end - kernel.start;
        continue;
      }
      UnjoinedKernels& one = unjoined.try_emplace(kernel.name, UnjoinedKernels{kernel.name, 0, {}}).first->second;
      ++one.kernels;
      one.time += kernel.end - kernel.start;
    }
    ProgressPart{known, 0.5, 1}({.done = ++joined, .all = static_cast<std::int64_t>(ranks.size())});
  }
  std::sort(step->timeline.spans.begin(), step->timeline.spans.end(), [](const sim::Span& a, const sim::Span& b) {
    return std::tuple(a.device, a.start, a.key) < std::tuple(b.device, b.start, b.key);
  });
  for (auto& [kernel, one] : unjoined) step->unjoined.push_back(std::move(one));
  std::stable_sort(step->unjoined.begin(), step->unjoined.end(),
                   [](const UnjoinedKernels& a, const UnjoinedKernels& b) { return a.time > b.time; });
  step->core = std::make_shared<TimelineCore>(step->timeline);
  return step;
}

}  // namespace gui
