#include "planner/searched_orders.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/fewer.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

// Few microbatches: the order that a schedule gives leaves more idle than the passes of these stages need.
SearchRequest uneven_pipeline() {
  SearchRequest request = small_request({.devices = 4, .devices_per_node = 4});
  request.model = gpt(8, 4);
  request.model.vocabulary = 1000;
  request.model.tied_embeddings = false;
  request.fixed = {{"pipeline", "4"}, {"data", "1"}, {"chunks", "1"}, {"microbatch", "1"}};
  request.workload.global_batch = 6;
  request.top = 10;
  request.gap = 0;
  return request;
}

bool has_order_gain(const SearchResult& result) {
  return std::any_of(result.ranked.begin(), result.ranked.end(), [](const RankedPlan& plan) { return plan.order_gain > 0; });
}

TEST(SearchedOrders, TakeTheirPlanAheadAndStayLegal) {
  SearchRequest request = uneven_pipeline();
  const SearchResult own = search(request);
  SearchResult searched = own;
  search_orders(request, searched);
  ASSERT_EQ(searched.ranked.size(), own.ranked.size());
  ASSERT_TRUE(has_order_gain(searched)) << "no plan of this problem gains by an order";
  for (std::size_t at = 1; at < searched.ranked.size(); ++at) EXPECT_GE(searched.ranked[at].measure, searched.ranked[at - 1].measure);
  EXPECT_LE(searched.ranked.front().measure, own.ranked.front().measure);
  EXPECT_TRUE(searched.ranked.front().why_not_best.empty());
  EXPECT_GE(*searched.gap, 0);
  for (const RankedPlan& plan : searched.ranked) {
    EXPECT_EQ(plan.plan.schedule == "csv", plan.order_gain > 0);
    EXPECT_TRUE(sim::violations(plan.plan).empty());
    EXPECT_EQ(plan.plan.predictions->hash, sim::plan_hash(plan.plan));
    EXPECT_EQ(simulate(sim::make_model_graph(plan.plan), plan.plan).step_time, plan.result.step_time);
  }
}

TEST(SearchedOrders, WhatTheProgramCannotSayStays) {
  SearchRequest request = uneven_pipeline();
  request.why_not = [](const sim::ParallelPlan& plan) {
    return plan.written_order ? std::vector<sim::Violation>{{"/order", "is written", "use a schedule"}} : std::vector<sim::Violation>{};
  };
  EXPECT_FALSE(has_order_gain(search_as_asked(request)));
  request.why_not = nullptr;
  EXPECT_TRUE(has_order_gain(search_as_asked(request)));
}

TEST(SearchedOrders, AFixedScheduleStays) {
  SearchRequest request = uneven_pipeline();
  request.fixed["schedule"] = "zb-1p";
  EXPECT_FALSE(has_order_gain(search_as_asked(request)));
}

}  // namespace
}  // namespace planner
