// A lowered graph taken apart, so that a test can break one thing and put it together again.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/check/checkers.h"
#include "sim/task_graph/task_graph.h"
#include "sim/task_graph/task_graph_builder.h"
#include "tests/sim/plan/plans.h"

namespace sim::testing {

struct GraphParts {
  explicit GraphParts(ParallelPlan of, Fold fold = Fold::Symmetric) : plan(std::move(of)), model(make_model_graph(plan)) {
    const TaskGraph graph = lower(model, plan, fold);
    devices.assign(graph.devices().begin(), graph.devices().end());
    tasks.assign(graph.tasks().begin(), graph.tasks().end());
    buckets = graph.buckets();
    num_rendezvous = graph.rendezvous_sizes().size();
    for (const auto& [before, after] : graph.edges_between_steps()) between_steps.emplace_back(before.position(), after.position());
    for (std::size_t from = 0; from < tasks.size(); ++from) {
      const auto [begin, end] = boost::adjacent_vertices(from, graph.edges());
      for (auto to = begin; to != end; ++to) edges.emplace_back(from, *to);
    }
  }

  TaskGraph graph() const {
    TaskGraphBuilder builder;
    for (const GraphDevice& device : devices) builder.add_device(device);
    for (std::size_t at = 0; at < num_rendezvous; ++at) builder.add_rendezvous();
    for (const Task& task : tasks) {
      const TaskId id = builder.add_task(task);
      if (task.rendezvous >= 0) builder.join(id, task.rendezvous);
    }
    for (const auto& [from, to] : edges) builder.add_edge(TaskId(static_cast<std::int32_t>(from)), TaskId(static_cast<std::int32_t>(to)));
    for (const auto& [from, to] : between_steps)
      builder.add_edge_between_steps(TaskId(static_cast<std::int32_t>(from)), TaskId(static_cast<std::int32_t>(to)));
    builder.set_buckets(buckets);
    return std::move(builder).freeze();
  }
  std::vector<std::string> findings() const { return check_graph(model, plan, graph()); }

  // The number-th task whose key contains `text`.
  std::size_t find(const std::string& text, std::size_t number = 0) const {
    for (std::size_t at = 0; at < tasks.size(); ++at)
      if (to_text(tasks[at].key).find(text) != std::string::npos && number-- == 0) return at;
    ADD_FAILURE() << "no task " << text;
    return 0;
  }
  Task& task(const std::string& text, std::size_t number = 0) { return tasks[find(text, number)]; }

  void drop(std::size_t task) {
    tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(task));
    for (auto* all : {&edges, &between_steps}) {
      std::erase_if(*all, [&](const auto& edge) { return edge.first == task || edge.second == task; });
      for (auto& [from, to] : *all) from -= from > task, to -= to > task;
    }
  }
  void swap(std::size_t a, std::size_t b) {  // their places in issue order
    std::swap(tasks[a], tasks[b]);
    const auto moved = [&](std::size_t at) { return at == a ? b : at == b ? a : at; };
    for (auto* all : {&edges, &between_steps})
      for (auto& [from, to] : *all) from = moved(from), to = moved(to);
  }
  void cut_edges_to(std::size_t task) {
    std::erase_if(edges, [&](const auto& edge) { return edge.second == task; });
  }

  ParallelPlan plan;
  ModelGraph model;
  std::vector<GraphDevice> devices;
  std::vector<Task> tasks;
  std::vector<std::pair<std::size_t, std::size_t>> edges, between_steps;
  std::vector<std::vector<Bucket>> buckets;
  std::size_t num_rendezvous = 0;
};

inline auto says(const std::string& text) { return ::testing::Contains(::testing::HasSubstr(text)); }

inline ParallelPlan zero3_plan() {
  ParallelPlan plan = tiny_plan({.data = 2});
  plan.zero_stage = 3;
  return plan;
}

}  // namespace sim::testing
