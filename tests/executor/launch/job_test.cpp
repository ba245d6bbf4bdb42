#include "executor/launch/job.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace executor {
namespace {

TEST(Job, AloneNeedsNothing) {
  const Transport transport = join_job({}, {}, nullptr);
  EXPECT_FALSE(transport.mpi);
  EXPECT_FALSE(transport.nccl);
}

TEST(Job, TorchrunsVariablesLeadToOneStore) {
  const OpenStore any = open_store({.host = "127.0.0.1", .port = 0}, sim::Rank(0));  // a port that is free
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  setenv("MASTER_PORT", std::to_string(any.address.port).c_str(), 1);
  const Transport joined = join_job({.device = c10::kCPU, .joint = Joint::Nccl, .why = {}},
                                    {.rank = sim::Rank(1), .size = 2, .local_rank = 1, .local_size = 2, .is_launched = true}, nullptr);
  ASSERT_TRUE(joined.nccl);
  joined.nccl->settings().rendezvous.put("word", "from rank 1");
  EXPECT_EQ(any.rendezvous.get("word"), "from rank 1");
  EXPECT_EQ(joined.place().rank, 1);
}

}  // namespace
}  // namespace executor
