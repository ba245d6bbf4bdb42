// All traces of a run folder (read_run_traces in trace.h).
#include <gmock/gmock.h>

#include "sim/timeline/trace.h"
#include "sim/units/input_error.h"
#include "tests/sim/plan/plans.h"
#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

RankTrace trace(std::int32_t rank) {
  RankTrace made = testing::trace_of(testing::two_stages(), DeviceId(0), 1);
  made.rank = Rank(rank);
  return made;
}

void write(const TemporaryFolder& folder, const RankTrace& trace, std::int32_t as) {
  write_rank_trace(trace, folder.file(trace_file_name(Rank(as))));
}

std::string folder_problem(const std::string& folder) {
  try {
    read_run_traces(folder);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RunTraces, ComeInTheOrderOfTheRanks) {
  const TemporaryFolder folder;
  for (std::int32_t rank = 0; rank < 12; ++rank) write(folder, trace(rank), rank);
  for (const char* other : {"plan.json", "trace.x.json", "trace.01.json", "trace.3.json.88.part", "trace..json", "trace.-1.json"})
    testing::put(folder.file(other), "not a trace");
  const auto traces = read_run_traces(folder.path());
  ASSERT_EQ(traces.size(), 12u);
  for (std::size_t at = 0; at < traces.size(); ++at) EXPECT_EQ(traces[at].rank.position(), at);
}

TEST(RunTraces, MissingRanksAreNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT(folder_problem(folder.path()), HasSubstr("trace.0.json"));
  write(folder, trace(0), 0);
  write(folder, trace(2), 2);
  EXPECT_THAT(folder_problem(folder.path()), HasSubstr("trace.1.json: is missing"));
  EXPECT_THAT(folder_problem(folder.file("nowhere")), HasSubstr("cannot be read"));
}

TEST(RunTraces, AreAsManyAsThePlanHasRanks) {
  const ParallelPlan plan = testing::tiny_plan({.data = 2});
  RankTrace of_plan = trace(0);
  of_plan.plan_hash = plan_hash(plan);
  try {
    require_traces_of(plan, {of_plan}, "runs/a");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("found 1 file, the plan has 2 ranks"));
  }
}

TEST(RunTraces, BelongTogether) {
  const TemporaryFolder folder;
  write(folder, trace(0), 0);
  write(folder, trace(0), 1);
  EXPECT_THAT(folder_problem(folder.path()), HasSubstr("of rank 0"));
  RankTrace other = trace(1);
  other.plan_hash = "ffff";
  write(folder, other, 1);
  EXPECT_THAT(folder_problem(folder.path()), HasSubstr("plan ffff"));
}

}  // namespace
}  // namespace sim
