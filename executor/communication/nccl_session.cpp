#include "executor/communication/nccl_session.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>

namespace executor {
namespace {

constexpr std::chrono::microseconds kRest{50};

bool has_failed(NcclStatus status) { return status != NcclStatus::Success && status != NcclStatus::InProgress; }

std::string name_of_group(const std::vector<sim::Rank>& members, const std::string& name) {
  std::vector<std::int32_t> ranks;
  for (const sim::Rank member : members) ranks.push_back(member.value());
  return fmt::format("{} group of ranks {}", name, fmt::join(ranks, " "));
}

template <class Value>
std::string to_bytes(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <class Value = OperationHeader>
Value from_bytes(const std::string& bytes) {
  Value value;
  if (bytes.size() == sizeof value) std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
  return value;
}

// Where a rank leaves a word about a group.
std::string place_in(const NcclGroup& group, std::string_view what, sim::Rank rank) {
  return fmt::format("{}/{}/{}", what, group.number, rank.value());
}
// Of the operation that it is stuck in: under its place in the order of the group, so that only equals are compared.
std::string place_in(const NcclGroup& group, const OperationHeader& stuck, sim::Rank rank) {
  return place_in(group, fmt::format("stuck/{}", stuck.sequence), rank);
}

}  // namespace

NcclSession::~NcclSession() {
  for (const NcclGroup& group : groups_)
    if (failure_.empty() && std::uncaught_exceptions() == 0)
      settings_.library->destroy(group.handle);
    else if (failure_.empty())
      settings_.library->abort(group.handle);
}

const NcclGroup* NcclSession::make_group(const std::vector<sim::Rank>& members, const std::string& name) {
  NcclGroup group{.handle = nullptr, .members = members, .rank = 0, .name = name_of_group(members, name), .number = groups_made_++};
  const std::string id_name = fmt::format("id/{}/{}", group.number, members.front().value());
  const auto self = std::find(members.begin(), members.end(), rank());
  if (self == members.end()) return nullptr;
  group.rank = static_cast<std::int32_t>(self - members.begin());
  NcclId id;
  if (group.rank == 0) {
    settle(settings_.library->make_id(id), group, "making its id");
    settings_.rendezvous.put(id_name, {id.bytes.data(), id.bytes.size()});
  } else {
    const std::string bytes = settings_.rendezvous.get(id_name);
    std::copy_n(bytes.data(), std::min(bytes.size(), id.bytes.size()), id.bytes.data());
  }
  const NcclStatus status =
      settings_.library->start(group.handle, id, {.rank = group.rank, .size = static_cast<std::int32_t>(members.size())});
  settle(status, group, "making its communicator");
  return &groups_.emplace_back(group);
}

void NcclSession::settle(NcclStatus status, const NcclGroup& group, const std::string& what) {
  if (!failure_.empty()) throw CollectiveError(failure_);
  const auto start = Clock::now();
  while (status == NcclStatus::InProgress) {
    const sim::Seconds waited = Clock::now() - start;
    if (waited > settings_.options.time_limit)
      fail(fmt::format("{}: rank {} waited {:.1f} s in {}. Not all of its ranks came", group.name, group.rank, waited.count(), what));
    std::this_thread::sleep_for(kRest);
    status = settings_.library->state(group.handle);
  }
  if (has_failed(status))
    fail(fmt::format("{}: NCCL failed on rank {} in {}: {}", group.name, group.rank, what,
                     settings_.library->describe(status, group.handle)));
}

void NcclSession::started(const NcclGroup& group, const OperationHeader& header) {
  orders_[group.number].add(header);
  started_.push_back({.group = &group, .header = header, .ended = c10::Event(settings_.device.type())});
  started_.back().ended.record(c10::impl::VirtualGuardImpl(settings_.device.type()).getStream(settings_.device));
}

void NcclSession::look() {
  if (!failure_.empty()) throw CollectiveError(failure_);
  started_.remove_if([](const Started& operation) { return operation.ended.query(); });
  for (const NcclGroup& group : groups_)
    if (const NcclStatus status = settings_.library->state(group.handle); has_failed(status))
      fail(fmt::format("{}: NCCL reports on rank {}: {}", group.name, group.rank, settings_.library->describe(status, group.handle)));
  if (Clock::now() - compared_ > settings_.compare_after) compare_orders();
}

void NcclSession::drain() {
  const auto start = Clock::now();
  bool compared = false;
  for (look(); !started_.empty(); look()) {
    const sim::Seconds waited = Clock::now() - start;
    if (waited > settings_.compare_after) {
      if (!compared)
        settings_.rendezvous.put(place_in(*started_.front().group, started_.front().header, rank()), to_bytes(started_.front().header));
      compared = true;
      compare_with_peers(started_.front());
    }
    if (waited > settings_.options.time_limit) fail_after(waited, started_.front());
    std::this_thread::sleep_for(kRest);
  }
}

void NcclSession::compare_with_peers(const Started& stuck) {
  for (const sim::Rank peer : stuck.group->members) {
    if (peer == rank()) continue;
    const auto theirs = settings_.rendezvous.look(place_in(*stuck.group, stuck.header, peer));
    if (!theirs || same_operation(stuck.header, from_bytes(*theirs))) continue;
    fail_by(*stuck.group, from_bytes(*theirs), stuck.header, peer);
  }
}

void NcclSession::fail_by(const NcclGroup& group, const OperationHeader& theirs, const OperationHeader& ours, sim::Rank peer) {
  fail(fmt::format("{}: the ranks disagree. Rank {} issued {} while rank {} issued {}", group.name, peer.value(), to_text(theirs),
                   rank().value(), to_text(ours)));
}

// With the ranks before and after this one in each group: if all neighbours agree, all do. Nobody waits.
void NcclSession::compare_orders() try {
  compared_ = Clock::now();
  using Point = OperationOrder::Point;
  for (const NcclGroup& group : groups_) {
    const Point mine = orders_[group.number].now();
    const auto size = static_cast<std::int32_t>(group.members.size());
    settings_.rendezvous.put(place_in(group, "order", rank()), to_bytes(mine));
    for (const std::int32_t apart : {1, size - 1}) {
      const sim::Rank peer = group.members[static_cast<std::size_t>((group.rank + apart) % size)];
      const auto theirs = settings_.rendezvous.look(place_in(group, "order", peer));
      if (theirs && !orders_[group.number].agrees(from_bytes<Point>(*theirs))) fail_by_difference(group, peer);
    }
  }
} catch (const CollectiveError&) {
  if (!failure_.empty()) throw;  // else the store has ended with its rank: nobody is left to compare with
}

// The peer finds the same, and tells what it has issued.
void NcclSession::fail_by_difference(const NcclGroup& group, sim::Rank peer) {
  const OperationOrder& order = orders_[group.number];
  settings_.rendezvous.put(place_in(group, "log", rank()), order.log());
  for (const auto start = Clock::now(); Clock::now() - start < 2 * settings_.compare_after; std::this_thread::sleep_for(kRest)) {
    const auto log = settings_.rendezvous.look(place_in(group, "log", peer));
    if (!log) continue;
    if (const auto found = order.first_difference(*log)) fail_by(group, found->there, found->here, peer);
  }
  fail(fmt::format("{}: the ranks disagree. Rank {} issued other operations than rank {} up to {}", group.name, peer.value(),
                   rank().value(), to_text(order.last())));
}

void NcclSession::fail_after(sim::Seconds waited, const Started& stuck) {
  std::string missing;
  for (const sim::Rank peer : stuck.group->members)
    if (peer != rank() && !settings_.rendezvous.look(place_in(*stuck.group, stuck.header, peer)))
      missing += fmt::format(" Rank {} has not come.", peer.value());
  fail(fmt::format("{}: rank {} waited {:.1f} s in {}.{}", stuck.group->name, stuck.group->rank, waited.count(), to_text(stuck.header),
                   missing.empty() ? " All ranks came, but the operation did not end." : missing));
}

// From a safe point only: no operator of this thread is under way.
void NcclSession::fail(const std::string& sentence) {
  failure_ = sentence;
  for (const NcclGroup& group : groups_) settings_.library->abort(group.handle);
  started_.clear();
  throw CollectiveError(sentence);
}

}  // namespace executor
