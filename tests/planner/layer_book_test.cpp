#include "planner/layer_book.h"

#include <gtest/gtest.h>

#include "planner/evaluator.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

void expect_same(const Judgement& found, const Judgement& expected) {
  EXPECT_EQ(found.time, expected.time);
  EXPECT_EQ(found.memory, expected.memory);
}

// With one book for all meshes candidates have the bounds that each has by itself.
void expect_a_book_changes_nothing(const SearchRequest& request) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  LayerBook book;
  for (const PlanCandidate& candidate : enumerate(request).candidates) {
    SCOPED_TRACE(to_text(candidate));
    expect_same(Evaluator(request, model, &book).sketch(candidate), Evaluator(request, model).sketch(candidate));
  }
}

TEST(LayerBook, MeshesShareWhatDependsOnNothingOfTheirs) {
  for (const SearchRequest& request : small_requests()) expect_a_book_changes_nothing(request);
}

TEST(LayerBook, ChangesNothingOfRandomProblems) {
  std::mt19937 random(23);
  for (int round = 0; round < 12; ++round) expect_a_book_changes_nothing(random_request(random));
}

TEST(LayerBook, KeepsPricesByTheirKey) {
  SearchRequest request = small_request({.devices = 8});
  request.workload.global_batch = 16;
  const PlanCandidate narrow{.mesh = {.data = 8}}, wide{.mesh = {.data = 4, .tensor = 2}}, deep{.mesh = {.data = 4, .pipeline = 2}};
  const auto key = [&](const PlanCandidate& candidate, std::int64_t words) {
    return LayerBook::key(make_plan(request, candidate), words, {1, 2});
  };
  EXPECT_NE(key(narrow, 0), key(wide, 0));
  EXPECT_NE(key(narrow, 0), key(narrow, 1));
  EXPECT_EQ(key(narrow, 0), key(deep, 0));
  request.cluster.software.host_per_tensor_rank = sim::Seconds(1e-5);
  EXPECT_NE(key(narrow, 0), key(deep, 0));
  request.cluster.software.host_per_tensor_rank = {};
  request.cluster.software.learned_runs.emplace_back();
  EXPECT_NE(key(narrow, 0), key(deep, 0));
  LayerBook book;
  EXPECT_FALSE(book.find(key(wide, 0)));
  book.add(key(wide, 0), StageLayerPrices(3));
  EXPECT_TRUE(book.find(key(wide, 0)));
}

}  // namespace
}  // namespace planner
