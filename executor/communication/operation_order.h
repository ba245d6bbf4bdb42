// What a group's operations were on this rank, in their order, as a sum that its peers compare with theirs: a library that matches operations by order
// alone (NCCL) ends also those that are not the same, with garbage.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "executor/communication/operation_header.h"

namespace executor {

class OperationOrder {
 public:
  // After `count` operations, the digest of all of them.
  struct Point {
    std::int64_t count = 0;
    std::uint64_t digest = 0;
  };
  void add(const OperationHeader& header);
  Point now() const { return now_; }
  const OperationHeader& last() const { return past_.back().header; }  // if there is one
  // Where a peer is: false if its operations up to there were others. A point that is still to come here, or long past, says nothing.
  bool agrees(Point theirs) const;

  std::string log() const;  // the last operations, as bytes for a peer
  // The first place in which two ranks differ.
  struct Difference {
    OperationHeader here, there;
  };
  std::optional<Difference> first_difference(const std::string& log_of_peer) const;

 private:
  struct Past {
    OperationHeader header;
    std::uint64_t digest_after = 0;
  };
  static constexpr std::size_t kKept = 4096;  // more than are issued between two comparisons

  Point now_;
  std::deque<Past> past_;  // the last is number now_.count - 1
};

}  // namespace executor
