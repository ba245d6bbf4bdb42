// The rules on what travels encoded, each shown able to fail.
#include "tests/sim/check/graph_parts.h"

namespace sim {
namespace {

using testing::GraphParts;
using testing::says;

ParallelPlan encoded(DeviceMesh mesh, std::int32_t stage, const std::string& codecs) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.zero_stage = stage;
  std::vector<Violation> wrong;
  plan.workload.precision = parse_precision_policy("fp32 " + codecs, wrong);
  EXPECT_THAT(wrong, ::testing::IsEmpty());
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  return plan;
}

TEST(ExpectedWire, SoundGraphs) {
  for (const ParallelPlan& plan :
       {encoded({.data = 2}, 0, "wire=powersgd:2"), encoded({.data = 4}, 2, "wire=int8"),
        encoded({.data = 4, .replicas = 2}, 1, "wire=fp8"), encoded({.data = 4, .reshard = 2}, 3, "gathers=int8 wire=int4"),
        encoded({.data = 2, .pipeline = 2}, 0, "wire=powersgd:1")})
    for (const Accumulation accumulation : {Accumulation::ReduceLast, Accumulation::ReduceEach})
      for (const Fold& fold : {Fold::Symmetric, Fold::None}) {
        ParallelPlan one = plan;
        one.accumulation = accumulation;
        EXPECT_THAT(GraphParts(one, fold).findings(), ::testing::IsEmpty()) << to_text(plan.workload.precision);
      }
}

TEST(ExpectedWire, ACodecThatIsNotThere) {
  GraphParts parts(encoded({.data = 2}, 2, "wire=int8"));
  parts.drop(parts.find("gradients.decode"));
  EXPECT_THAT(parts.findings(), says("gradients.decode.none.0 of rank 0 is missing"));
}

TEST(ExpectedWire, OtherBytes) {
  GraphParts low(encoded({.data = 2}, 0, "wire=powersgd:2"));
  low.task("gradients.all_reduce.data").payload += Bytes(4);
  EXPECT_THAT(low.findings(), says("gradients.all_reduce.data"));
  GraphParts blocks(encoded({.data = 4, .reshard = 2}, 3, "wire=int4"));
  blocks.task("gradients.all_to_all.distant").payload += Bytes(4);
  EXPECT_THAT(blocks.findings(), says("gradients.all_to_all.distant"));
}

TEST(ExpectedWire, OutOfOrder) {
  GraphParts parts(encoded({.data = 2}, 0, "wire=powersgd:2"));
  parts.swap(parts.find("gradients.reencode"), parts.find("gradients.all_reduce.data"));
  EXPECT_THAT(parts.findings(), says("gradients.reencode.none.0 of rank 0 does not wait for"));
}

TEST(ExpectedWire, WeightsThatNobodyDecodes) {
  GraphParts parts(encoded({.data = 2}, 3, "gathers=int8"));
  parts.drop(parts.find("m0.l2.forward.decode"));
  EXPECT_THAT(parts.findings(), says("which are not decoded"));
  GraphParts unsent(encoded({.data = 2}, 3, "gathers=int8"));
  unsent.drop(unsent.find("m0.l2.forward.encode"));
  EXPECT_THAT(unsent.findings(), says("gathers what is not encoded"));
}

}  // namespace
}  // namespace sim
