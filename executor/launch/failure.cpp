#include "executor/launch/failure.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "executor/communication/transport.h"
#include "sim/units/input_error.h"

namespace executor {

Failure describe(const std::exception& error) {
  constexpr int kInputError = 30, kInternal = 40, kRankFailed = 50;
  if (const auto* input = dynamic_cast<const sim::InputError*>(&error)) return {.exit_code = kInputError, .sentence = input->what()};
  if (dynamic_cast<const CollectiveError*>(&error) != nullptr) return {.exit_code = kRankFailed, .sentence = error.what()};
  if (const auto* torch = dynamic_cast<const c10::Error*>(&error))
    return {.exit_code = kInternal, .sentence = torch->what_without_backtrace()};
  return {.exit_code = kInternal, .sentence = error.what()};
}

int end_with(const Failure& failure, bool is_launched, MpiSession* mpi) {
  constexpr std::chrono::milliseconds kForTheOthers{200};  // the launcher ends them, too: what they know belongs in their files first

  fmt::print(stderr, "error: {}\n", failure.sentence);
  std::fflush(stderr);
  if (!is_launched) return failure.exit_code;
  if (mpi == nullptr) std::this_thread::sleep_for(kForTheOthers);
  end_job(mpi, failure.exit_code, failure.sentence);
}

}  // namespace executor
