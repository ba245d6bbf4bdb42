// Runs a check on every candidate of small problems that between them meet every axis. Used by the tests of the bounds.
#pragma once

#include <gtest/gtest.h>

#include "planner/plan_prices.h"
#include "planner/search_space.h"
#include "tests/planner/problems.h"

namespace planner {

inline std::vector<SearchRequest> small_requests() {
  std::vector<SearchRequest> requests{small_request({.devices = 4, .devices_per_node = 4}), small_request({.devices = 8, .devices_per_node = 2})};
  SearchRequest untied = small_request({.devices = 6, .devices_per_node = 8});
  untied.model = gpt(6, 6);
  untied.model.tied_embeddings = false;
  untied.vocabulary_multiple = 12;
  untied.workload.global_batch = 12;
  requests.push_back(untied);
  SearchRequest cpu = small_request({.devices = 4, .devices_per_node = 4});
  cpu.cluster.hardware.kind = sim::DeviceKind::Cpu;
  cpu.cluster.hardware.overlaps_communication = false;
  cpu.cluster.hardware.cores_per_node = 2;
  cpu.workload.precision = sim::Precision::Fp32;
  requests.push_back(cpu);
  return requests;
}

template <class Check>
void on_every_small_plan(Check check) {
  for (const SearchRequest& request : small_requests()) {
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    for (const PlanCandidate& candidate : enumerate(request).candidates) {
      SCOPED_TRACE(to_text(candidate));
      check(model, make_plan(request, candidate));
    }
  }
}

}  // namespace planner
