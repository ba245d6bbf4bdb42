// Runs the parity tests on every rank. One failing rank fails the job; each prints under its own number (mpirun --tag-output).
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "executor/kernels/counting_allocator.h"
#include "executor/launch/determinism.h"
#include "executor/launch/device_choice.h"
#include "executor/launch/rank_environment.h"
#include "tests/executor/checked_device/checked_device.h"
#include "tests/parity/parity_job.h"

namespace parity {
namespace {

std::shared_ptr<executor::MpiSession> the_session;
c10::Device the_device = c10::kCPU;

c10::Device device_named(std::string_view name) {
  if (name == "checked") return executor::checked_device();
  return c10::Device(std::string(name));
}

}  // namespace

std::shared_ptr<executor::MpiSession> session() { return the_session; }
c10::Device device() { return the_device; }
int num_ranks() { return executor::read_rank_environment().size; }

ScratchOfJob::ScratchOfJob() {
  int process = getpid();
  if (the_session) MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  path_ = std::filesystem::temp_directory_path() / ("parity.job." + std::to_string(process));
}

ScratchOfJob::~ScratchOfJob() {
  if (the_session) MPI_Barrier(MPI_COMM_WORLD);
  if (executor::read_rank_environment().rank.value() == 0) std::filesystem::remove_all(path_);
}

}  // namespace parity

int main(int argc, char** argv) {
  const executor::RankEnvironment place = executor::read_rank_environment();
  if (place.rank.value() != 0)  // one report a job
    argc = static_cast<int>(std::remove_if(argv, argv + argc, [](std::string_view word) { return word.starts_with("--gtest_output"); }) -
                            argv);
  testing::InitGoogleTest(&argc, argv);
  executor::install_counting_allocator();
  for (int at = 1; at + 1 < argc; ++at)
    if (std::string_view(argv[at]) == "--device") parity::the_device = parity::device_named(argv[at + 1]);
  at::set_num_threads(1);
  if (parity::device().is_cuda()) executor::compute_deterministically();
  if (place.is_launched) parity::the_session = executor::MpiSession::start();
  if (place.rank.value() != 0)
    delete testing::UnitTest::GetInstance()->listeners().Release(testing::UnitTest::GetInstance()->listeners().default_result_printer());
  if (parity::device().is_cuda() && executor::look_around(place, false).gpus == 0) {
    std::puts("no GPU: CUDA finds no device on this machine");
    parity::the_session.reset();
    return 0;
  }
  int failed = RUN_ALL_TESTS();
  if (failed == 0 && testing::UnitTest::GetInstance()->successful_test_count() == 0) {
    std::puts("no test ran: the filter names none, or none is of as many ranks");
    failed = 1;
  }
  if (failed != 0 && place.is_launched) executor::MpiSession::abort(failed);
  parity::the_session.reset();
  return failed;
}
