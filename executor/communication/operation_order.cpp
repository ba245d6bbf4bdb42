#include "executor/communication/operation_order.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace executor {

void OperationOrder::add(const OperationHeader& header) {
  now_ = {.count = now_.count + 1, .digest = digest(header, now_.digest)};
  past_.push_back({.header = header, .digest_after = now_.digest});
  if (past_.size() > kKept) past_.pop_front();
}

bool OperationOrder::agrees(Point theirs) const {
  const std::int64_t back = now_.count - theirs.count;
  if (back < 0 || back >= static_cast<std::int64_t>(past_.size())) return true;
  return past_[past_.size() - 1 - static_cast<std::size_t>(back)].digest_after == theirs.digest;
}

std::string OperationOrder::log() const {
  std::string bytes;
  for (const Past& past : past_) bytes.append(reinterpret_cast<const char*>(&past.header), sizeof past.header);
  return bytes;
}

std::optional<OperationOrder::Difference> OperationOrder::first_difference(const std::string& log_of_peer) const {
  for (std::size_t at = 0; at + sizeof(OperationHeader) <= log_of_peer.size(); at += sizeof(OperationHeader)) {
    OperationHeader theirs;
    std::memcpy(static_cast<void*>(&theirs), log_of_peer.data() + at, sizeof theirs);
    const auto mine = std::find_if(past_.begin(), past_.end(), [&](const Past& past) { return past.header.sequence == theirs.sequence; });
    if (mine != past_.end() && !same_operation(mine->header, theirs)) return Difference{.here = mine->header, .there = theirs};
  }
  return std::nullopt;
}

}  // namespace executor
