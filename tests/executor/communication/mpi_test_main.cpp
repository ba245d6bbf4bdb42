#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "mpi_test.h"

namespace {

// Rank 0 prints as usual; the others print their failures.
class FailurePrinter : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (result.failed()) std::printf("%s:%d: %s\n", result.file_name() ? result.file_name() : "", result.line_number(), result.message());
  }
};

}  // namespace

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  at::set_num_threads(1);
  const auto session = executor::MpiSession::start();
  if (executor::world().rank != 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter);
  }
  return RUN_ALL_TESTS();
}
