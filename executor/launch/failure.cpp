#include "executor/launch/failure.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <cstdio>

#include "executor/communication/mpi_session.h"
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

int end_with(const Failure& failure, bool is_launched) {
  fmt::print(stderr, "error: {}\n", failure.sentence);
  std::fflush(stderr);
  if (is_launched) MpiSession::abort(failure.exit_code);
  return failure.exit_code;
}

}  // namespace executor
