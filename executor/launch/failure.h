// How a rank ends when something went wrong: the sentence and the exit code. The other ranks of the job are ended too, because they
// would wait for this one.
#pragma once

#include <exception>
#include <string>

namespace executor {

class MpiSession;

struct Failure {
  int exit_code = 40;
  std::string sentence;
};
Failure describe(const std::exception& error);

// Says it on stderr; under a launcher ends the whole job with the code. mpi: null where the ranks are not joined by it, or not yet.
[[nodiscard]] int end_with(const Failure& failure, bool is_launched, MpiSession* mpi);

}  // namespace executor
