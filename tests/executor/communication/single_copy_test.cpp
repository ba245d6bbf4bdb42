#include "executor/communication/single_copy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace executor {
namespace {

constexpr const char* kMechanism = "OMPI_MCA_btl_vader_single_copy_mechanism";
constexpr const char* kEagerLimit = "OMPI_MCA_btl_vader_eager_limit";

class SingleCopy : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {kMechanism, kEagerLimit, "OMPI_MCA_btl_vader_max_send_size", "OMPI_MCA_btl_vader_segment_size"})
      unsetenv(name);
  }
};

TEST_F(SingleCopy, AsksWithoutLeavingAChild) {
  can_read_other_processes();  // either answer is right: it depends on the container
  EXPECT_EQ(can_read_other_processes(), can_read_other_processes());
}

TEST_F(SingleCopy, LeavesOpenMpiAloneWhereItWorks) {
  choose_shared_memory_copies(true);
  EXPECT_EQ(std::getenv(kMechanism), nullptr);
}

TEST_F(SingleCopy, WidensTheWayOutAndKeepsOwnSettings) {
  setenv(kEagerLimit, "777", 1);
  choose_shared_memory_copies(false);
  EXPECT_EQ(std::string(std::getenv(kMechanism)), "none");
  EXPECT_EQ(std::string(std::getenv(kEagerLimit)), "777");
}

}  // namespace
}  // namespace executor
