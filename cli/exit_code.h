// What the programs end with; scripts and the GUI act on these. Documented in README.md.
#pragma once

#include <stdexcept>

namespace cli {

enum ExitCode : int {
  kSuccess = 0,
  kUsage = 2,  // the command line itself
  kNoFeasiblePlan = 10,
  kLimitReached = 20,
  kInputError = 30,  // a file or a value that a user gave us
  kInternal = 40,
  kRankFailed = 50,
  kInterrupted = 130,
};

// Exit code 50 with these words.
class RankFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace cli
