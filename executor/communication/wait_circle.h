// Which ranks wait for each other in a circle: what no header of an operation can tell when the operations are of different groups.
// Follows the chain "I wait for 3, who waits for 1, who ..." by what the others answer. Carries no messages itself: MpiWatch does.
//
// An answer may be out of date (what a rank waits for is under way). So a circle is believed when a second walk, begun later, finds each
// member in the same wait: those members cannot have moved in between.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace executor {

struct Waiting {
  std::int64_t number = 0;     // of this wait on its rank: another wait, another number
  std::int32_t rank = -1;      // of the job, as all here
  std::int32_t for_rank = -1;  // the first that has not come; -1: for nobody in particular
  std::string in;              // the operation
};

class WaitCircle {
 public:
  using Time = std::chrono::milliseconds;  // since any beginning
  struct Finding {
    std::optional<std::int32_t> ask;  // whose answer the walk lacks
    std::string circle;               // empty: none that is certain
  };
  void learn(const Waiting& answer, Time now) { known_[answer.rank] = {answer, now}; }
  Finding look(const Waiting& mine, Time now);

 private:
  struct Answer {
    Waiting waiting;
    Time at{};
  };
  using Members = std::vector<std::pair<std::int32_t, std::int64_t>>;  // rank, number of its wait
  void begin_walk(Time earliest, Members seen);

  std::map<std::int32_t, Answer> known_;
  Members seen_;     // by the walk before
  Time earliest_{};  // answers from before count for nothing
  std::int64_t number_ = -1;
};

}  // namespace executor
