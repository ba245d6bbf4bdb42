#include "sim/validation/simulated_row.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "sim/cost/memory_interval.h"
#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

SimulationResult simulated(const ParallelPlan& plan) { return simulate(make_model_graph(plan), plan); }

// Korthikanti et al. (arXiv 2205.05198), with sequence parallelism and selective recomputation: activations of the fullest stage, GiB. 1T ran.
TEST(SimulatedRow, ActivationsOfMegatronAreThePapers) {
  const std::map<std::string, double> measured{{"22B", 9.6}, {"175B", 12.4}, {"530B", 23.1}, {"1T", 26.6}};
  const Json document = load_json_file("profiles/published/checks.json");
  std::size_t seen = 0;
  for (const Json& row : rows_of(document, "checks.json")) {
    const std::string id = row["id"];
    if (!id.starts_with("sequence-parallel/") || !id.ends_with("-selective") || id.find("-layer-") != std::string::npos) continue;
    const SimulationResult result = simulated(describe(row).plan);
    Bytes most{};
    for (const DeviceResult& stage : result.devices)
      most = std::max(most, stage.at_peak[static_cast<std::size_t>(MemoryCategory::Activations)]);
    const double gib = static_cast<double>(most.value()) / (1 << 30), paper = measured.at(row["workload"]["model"]);
    EXPECT_NEAR(gib / paper, 1, 0.08) << id << " " << gib;
    EXPECT_TRUE(result.fits) << id;
    ++seen;
  }
  EXPECT_EQ(seen, measured.size());
}

// The same paper's table 4: one block, forward and backward, seconds.
TEST(SimulatedRow, ALayerIsTimedAlone) {
  const std::map<std::string, double> measured{
      {"none", 0.0196}, {"sequence", 0.0190}, {"full", 0.0272}, {"selective", 0.0209}, {"both", 0.0203}};
  const Json document = load_json_file("profiles/published/checks.json");
  for (const Json& row : rows_of(document, "checks.json")) {
    const std::string id = row["id"], prefix = "sequence-parallel/22B-layer-";
    if (!id.starts_with(prefix)) continue;
    EXPECT_NEAR(estimate(describe(row)).time.count() / measured.at(id.substr(prefix.size())), 1, 0.06) << id;
  }
}

// What the allocator holds is reserved, and no tensor.
TEST(SimulatedRow, TheIntervalOfMemoryReachesUpByWhatTheAllocatorHolds) {
  const Json row = patched(valid_row(), {{"plan",
                                          {{"dp", 2},
                                           {"tp", 4},
                                           {"zero_stage", 0},
                                           {"sequence_parallel", true},
                                           {"software", {{"framework", "nanotron"}, {"year", 2025}}}}}});
  DescribedRow described = describe(row);
  const double held = static_cast<double>(held_reductions(described.plan).value()) / (1 << 30);
  ASSERT_GT(held, 0);
  const auto above = [&](MemoryCounter counter) {
    described.asked.counter = counter;
    const RowEstimate found = estimate(described);
    return found.memory_high_gib - found.memory_gib * found.memory_gib / found.memory_low_gib;
  };
  EXPECT_NEAR(above(MemoryCounter::Reserved), held, 1e-6);
  EXPECT_NEAR(above(MemoryCounter::Allocated), 0, 1e-6);
}

// Of the counter, and of the rank, that is asked for.
TEST(SimulatedRow, MemoryIsThatOfTheQuestion) {
  const ParallelPlan plan =
      describe(patched(valid_row(), {{"plan", {{"dp", 2}, {"pp", 4}, {"zero_stage", 0}, {"schedule", "1f1b"}}}})).plan;
  const SimulationResult result = simulated(plan);
  const auto shown = [&](std::optional<MemoryCounter> counter, AskedRank rank) { return counted_memory(plan, result, {counter, rank}); };
  using enum MemoryCounter;
  EXPECT_NE(shown(Allocated, AskedRank::First), shown(Allocated, AskedRank::Last));
  EXPECT_EQ(shown(Allocated, AskedRank::Fullest), std::max(shown(Allocated, AskedRank::First), shown(Allocated, AskedRank::Last)));
  EXPECT_GT(shown(Reserved, AskedRank::First), shown(Allocated, AskedRank::First));
  EXPECT_GT(shown(Device, AskedRank::First), shown(Reserved, AskedRank::First));
}

// 7B over 8 GPUs: small micro-batches need no recomputation, large ones do; a program without parts recomputes whole blocks.
TEST(SimulatedRow, OpenRecomputationIsTheLeastThatFits) {
  const auto settled = [](int micro_batch, bool has_parts) {
    DescribedRow row = describe(
        patched(valid_row(),
                {{"workload", {{"layers", 32}, {"hidden", 4096}, {"heads", 32}, {"ffn", 11008}}},
                 {"plan", {{"zero_stage", 3}, {"micro_batch", micro_batch}, {"global_batch", 8 * micro_batch}, {"recompute", nullptr}}}}));
    row.plan.cluster.software.recomputes_parts = has_parts;
    settle_recompute(row);
    EXPECT_THAT(row.assumed, testing::Contains(testing::Field(&Assumption::field, "plan.recompute")));
    return row.plan.recompute;
  };
  EXPECT_EQ(settled(1, true), Recompute::None);
  EXPECT_NE(settled(16, true), Recompute::None);
  EXPECT_EQ(settled(1, false), Recompute::None);
  EXPECT_EQ(settled(16, false), Recompute::Full);
}

// Whoever runs it takes what fits.
TEST(SimulatedRow, OpenRecomputationIsOutOfMemoryWhereNothingFits) {
  DescribedRow row =
      describe(patched(valid_row(), {{"workload", {{"layers", 32}, {"hidden", 4096}, {"heads", 32}, {"ffn", 16384}, {"vocab", 1024}}},
                                     {"plan", {{"zero_stage", 3}, {"micro_batch", 16}, {"global_batch", 128}}}}));
  EXPECT_TRUE(estimate(row).out_of_memory);
  row.recompute_parts_open = true;
  EXPECT_FALSE(estimate(row).out_of_memory);
  EXPECT_LE(estimate(row).memory_gib, 80);
}

}  // namespace
}  // namespace sim
