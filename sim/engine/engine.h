// Runs a task graph: event by event, given what each task costs and what memory it moves.
//
// Streams are FIFO in issue order, but for tasks with a priority: of those that are ready the lowest starts first, while the device's credit lasts;
// devices that do not overlap perform them in issue order, too. On devices that do not overlap communication all streams of a device are one. A task starts when it is
// the head of its stream and all its predecessors ended; the tasks of a rendezvous start when the last of them can, and end together.
//
//   TaskTimes      headed                started              ended
//                    |  waits for others   |  its work, shared  |
//   stream   [before]|.....................|[======= task ======]|[next]
//
// `headed` is when the task came to the head of its stream: a blocking collective of an in-order device is issued there and holds the device
// from then on, so there its span begins at `headed`; on overlapping devices a span begins at `started`. Waiting: started - headed.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/cost/memory_model.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/host_queue.h"
#include "sim/engine/link_sharing.h"
#include "sim/engine/memory_tracker.h"
#include "sim/task_graph/task_graph.h"
#include "sim/units/at.h"

namespace sim {

struct PricedTask {  // both outlive the run
  const TaskCost* cost = nullptr;
  const MemoryEffect* memory = nullptr;
};

struct TaskTimes {
  SimTime headed{}, started{}, ended{};
  bool held_by_host = false;  // started when it was issued, and could have before
};

struct DeviceTimes {
  SimTime busy{};           // compute stream
  SimTime communication{};  // sum over the communication streams
  SimTime exposed{};        // while something communicated and nothing computed
};

struct EngineRun {
  SimTime step_time{};
  std::vector<TaskTimes> tasks;      // by TaskId
  std::vector<DeviceTimes> devices;  // by DeviceId
};

class Engine {
 public:
  // `priced`: by TaskId. The graph and the prices must outlive the engine.
  Engine(const TaskGraph& graph, std::vector<PricedTask> priced, LinkSharing links, StreamOrder order, MemoryTracker& memory);

  // Throws InputError where the step is longer than the clock (106 days). Aborts when tasks wait for each other in a circle (lower() never makes such a graph; check_graph names the circle).
  EngineRun run() &&;

 private:
  enum class Edge : std::uint8_t { Begin, End };  // of a task's run
  struct DeviceState {
    std::int32_t computing = 0, communicating = 0;
    SimTime since{};
  };

  void queue_streams();
  void count_predecessors();
  void collect_meetings();
  void head(std::int32_t task);       // it came to the head of its stream
  void release(std::int32_t task);    // one thing less to wait for
  void enter(std::int32_t activity);  // all that it waits for is there, but perhaps the host
  SimTime issued(std::int32_t activity) const;
  bool has_priority(std::int32_t task) const { return sim::has_priority(sim::at(graph_.tasks(), task), order_); }
  std::span<const std::int32_t> members(const std::int32_t& activity) const;
  void start_ready();
  void start(std::int32_t activity);
  void start_by_priority();
  void start_alone(std::int32_t task);
  void start_meeting(std::int32_t meeting);
  void take_links(const TaskCost& cost, SimTime duration);  // of a member, while the meeting lasts so long
  void begin(std::int32_t task);
  void end(std::int32_t task);
  void end_activity(std::int32_t activity);
  void settle();
  bool is_valid(const Event& event) const;
  std::int32_t num_activities() const { return static_cast<std::int32_t>(scheduled_.size()); }
  void skip_moved_events();
  void account(std::int32_t task, Edge edge);
  void schedule(std::int32_t activity, SimTime time);
  void require_time(std::int32_t task, SimTime duration) const;
  [[noreturn]] void abort_stuck() const;

  const TaskGraph& graph_;
  std::vector<PricedTask> priced_;
  StreamOrder order_;
  MemoryTracker& memory_;
  LinkSharing links_;
  HostQueue host_;
  EventQueue events_;
  SimTime now_{};
  EngineRun run_;

  std::vector<std::int32_t> missing_;         // by task: predecessors that have not ended, plus its place in the stream
  std::vector<std::int32_t> next_in_stream_;  // by task; -1: the last
  std::vector<std::int32_t> first_in_stream_;
  std::vector<std::int32_t> ready_;       // activities that can start in this instant
  std::vector<std::uint32_t> scheduled_;  // by activity: its valid event; an older one is skipped
  // Activities: numbers below num_tasks are tasks; meeting r of the rendezvous is num_tasks + r. An event of num_activities + a: the host issues a.
  std::vector<std::vector<std::int32_t>> meetings_;  // members
  std::vector<std::int32_t> missing_members_;
  std::set<std::pair<std::int32_t, std::int32_t>> waiting_;  // (priority, activity): ready, and perhaps without credit
  std::vector<Bytes> under_way_;                             // by device: of tasks with a priority
  std::vector<LinkUse> uses_;
  std::vector<DeviceState> states_;
};

}  // namespace sim
