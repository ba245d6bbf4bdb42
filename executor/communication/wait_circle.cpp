#include "executor/communication/wait_circle.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace executor {
namespace {

constexpr WaitCircle::Time kBetweenWalks{200};  // longer than a message is under way
constexpr WaitCircle::Time kFresh{2000};        // an answer that is older is asked for again

std::string sentence(std::span<const Waiting> circle) {
  std::string text = "the ranks wait for each other, in operations that cannot meet:";
  for (const Waiting& each : circle) text += fmt::format(" rank {} waits for rank {} in {};", each.rank, each.for_rank, each.in);
  text.back() = '.';
  return text;
}

}  // namespace

void WaitCircle::begin_walk(Time earliest, Members seen) {
  earliest_ = earliest;
  seen_ = std::move(seen);
}

WaitCircle::Finding WaitCircle::look(const Waiting& mine, Time now) {
  if (std::exchange(number_, mine.number) != mine.number) begin_walk(now, {});
  std::vector<Waiting> chain{mine};
  const auto is_next = [&](const Waiting& each) { return each.rank == chain.back().for_rank; };
  for (auto again = chain.end(); again == chain.end(); again = std::find_if(chain.begin(), chain.end(), is_next)) {
    const std::int32_t next = chain.back().for_rank;
    if (next < 0) return {};
    const auto found = known_.find(next);
    if (found == known_.end() || found->second.at < earliest_ || now - found->second.at > kFresh) return {.ask = next, .circle = {}};
    chain.push_back(found->second.waiting);
  }
  const std::span<const Waiting> circle(std::find_if(chain.begin(), chain.end(), is_next), chain.end());
  Members members;
  for (const Waiting& each : circle) members.emplace_back(each.rank, each.number);
  if (members == seen_) return {.ask = {}, .circle = sentence(circle)};
  begin_walk(now + kBetweenWalks, std::move(members));
  return {};
}

}  // namespace executor
