#include "executor/communication/nccl_watch.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/units/at.h"

namespace executor {
namespace {

constexpr std::size_t kLastOperations = 6;  // that a failure tells
constexpr int kLooksPerComparison = 10;
constexpr std::chrono::milliseconds kRest{1};

bool is_error(NcclStatus status) { return status != NcclStatus::Success && status != NcclStatus::InProgress; }

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

// Of the operation that it is stuck in: under its place in the order of the group, so that only equals are compared.
std::string place_in(const NcclGroup& group, const OperationHeader& stuck, sim::Rank rank) {
  return executor::place_in(group, fmt::format("stuck/{}", stuck.sequence), rank);
}

}  // namespace

std::string place_in(const NcclGroup& group, std::string_view what, sim::Rank rank) {
  return fmt::format("{}/{}/{}", what, group.number, rank.value());
}

NcclWatch::~NcclWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void NcclWatch::keep(NcclHandle handle) {
  const std::lock_guard lock(mutex_);
  handles_.push_back(handle);
  if (!thread_.joinable()) thread_ = std::thread([this] { look_until_the_end(); });
}

void NcclWatch::add(const NcclGroup& group) {
  const std::lock_guard lock(mutex_);
  lanes_[group.number].group = &group;
}

NcclWatch::Making::Making(NcclWatch& watch, const NcclGroup& group) : watch_(watch) {
  watch.settings_.rendezvous.put(place_in(group, "here", watch.rank()), "1");
  const std::lock_guard lock(watch.mutex_);
  watch.making_ = &group;
  watch.making_since_ = Clock::now();
}

NcclWatch::Making::~Making() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.making_ = nullptr;
}

void NcclWatch::require_all_to_come() {
  NcclGroup group;
  sim::Seconds waited{};
  {
    const std::lock_guard lock(mutex_);
    if (making_ == nullptr || Clock::now() - making_since_ <= settings_.options.time_limit) return;
    group = *making_;
    waited = Clock::now() - making_since_;
  }
  std::string missing;
  for (std::int32_t peer = 0; peer < settings_.place.size; ++peer)
    if (!settings_.rendezvous.look(place_in(group, "here", sim::Rank(peer)))) missing += fmt::format(" Rank {} has not come.", peer);
  fail(fmt::format("{}: rank {} waited {:.1f} s in making its communicator.{}", group.name, rank().value(), waited.count(), missing));
}

// An event that has ended before, or a new one.
NcclWatch::Ended NcclWatch::now() {
  Ended ended;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      ended = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (!ended) ended = std::make_shared<c10::Event>(settings_.device.type());
  ended->record(c10::impl::VirtualGuardImpl(settings_.device.type()).getStream(settings_.device));
  return ended;
}

void NcclWatch::started(const NcclGroup& group, const OperationHeader& header, const Ended& ended) {
  const std::lock_guard lock(mutex_);
  Lane& lane = lanes_[group.number];
  lane.order.add(header);
  last_.emplace_back(&group, header);
  if (last_.size() > kLastOperations) last_.pop_front();
  if (lane.under_way.empty()) lane.oldest_since = Clock::now();
  lane.under_way.push_back({.header = header, .ended = ended});
}

void NcclWatch::require_health() const {
  if (!has_failed_) return;
  const std::lock_guard lock(mutex_);
  throw CollectiveError(failure_);
}

void NcclWatch::drain() {
  require_health();
  std::vector<Ended> newest;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, lane] : lanes_)
      if (!lane.under_way.empty()) newest.push_back(lane.under_way.back().ended);
  }
  for (const Ended& ended : newest) ended->synchronize();
  require_no_error();
  require_health();
}

void NcclWatch::require_no_error() {
  std::vector<const NcclGroup*> groups;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, lane] : lanes_) groups.push_back(lane.group);
  }
  for (const NcclGroup* const group : groups) {
    if (const NcclStatus status = state_of(*group); is_error(status))
      fail(fmt::format("{}: NCCL reports on rank {}: {}", group->name, rank().value(), settings_.library->describe(status, group->handle)));
  }
}

// Of handles that have been aborted nothing may be asked any more.
NcclStatus NcclWatch::state_of(const NcclGroup& group) {
  const std::lock_guard lock(asked_);
  return has_failed_ ? NcclStatus::Success : settings_.library->state(group.handle);
}

// A thread begins on the first device, and would take memory of it for what it asks.
void NcclWatch::look_until_the_end() {
  c10::impl::VirtualGuardImpl(settings_.device.type()).setDevice(settings_.device);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, settings_.compare_after / kLooksPerComparison, [this] { return ends_; })) {
    lock.unlock();
    try {
      if (!has_failed_ && !rests_) look();
    } catch (const std::exception&) {
      // Of a failure fail() has kept the sentence, for whoever calls next. Else the store has ended with its rank, and nobody is left to compare with; or the
      // device has failed, as its own calls will say.
    }
    lock.lock();
  }
}

void NcclWatch::look() {
  require_all_to_come();
  const std::vector<Stuck> all_stuck = forget_what_has_ended();
  require_no_error();
  for (const Stuck& stuck : all_stuck)
    if (stuck.waited > settings_.options.time_limit) fail_after(stuck);
  for (const Stuck& stuck : all_stuck) compare_with_peers(stuck);
  if (Clock::now() - compared_ > settings_.compare_after) compare_orders();
}

// The newest first: where all goes well it tells of all.
std::vector<NcclWatch::Stuck> NcclWatch::forget_what_has_ended() {
  const std::lock_guard lock(mutex_);
  std::vector<Stuck> stuck;
  for (auto& [number, lane] : lanes_) {
    const auto has_ended = [](const Started& operation) { return operation.ended->query(); };
    const bool all = !lane.under_way.empty() && has_ended(lane.under_way.back());
    while (!lane.under_way.empty() && (all || has_ended(lane.under_way.front()))) {
      if (Ended ended = std::move(lane.under_way.front().ended); ended.use_count() == 1) spare_.push_back(std::move(ended));
      lane.under_way.pop_front();
      lane.oldest_since = Clock::now();
      lane.has_told = false;
    }
    const sim::Seconds waited = Clock::now() - lane.oldest_since;
    if (lane.under_way.empty() || waited <= settings_.compare_after) continue;
    stuck.push_back({.group = lane.group, .header = lane.under_way.front().header, .waited = waited, .has_told = lane.has_told});
    lane.has_told = true;
  }
  return stuck;
}

void NcclWatch::compare_with_peers(const Stuck& stuck) {
  if (!stuck.has_told) settings_.rendezvous.put(place_in(*stuck.group, stuck.header, rank()), to_bytes(stuck.header));
  for (const sim::Rank peer : stuck.group->members) {
    if (peer == rank()) continue;
    const auto theirs = settings_.rendezvous.look(place_in(*stuck.group, stuck.header, peer));
    if (theirs && !same_operation(stuck.header, from_bytes(*theirs))) fail_by(*stuck.group, from_bytes(*theirs), stuck.header, peer);
  }
}

// With the ranks before and after this one in each group: if all neighbours agree, all do. Nobody waits.
void NcclWatch::compare_orders() {
  using Point = OperationOrder::Point;
  compared_ = Clock::now();
  std::vector<std::pair<const NcclGroup*, Point>> points;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, lane] : lanes_) points.emplace_back(lane.group, lane.order.now());
  }
  for (const auto& [group, mine] : points) {
    const auto size = static_cast<std::int32_t>(group->members.size());
    settings_.rendezvous.put(executor::place_in(*group, "order", rank()), to_bytes(mine));
    for (const std::int32_t apart : {1, size - 1}) {
      const sim::Rank peer = sim::at(group->members, (group->rank + apart) % size);
      const auto theirs = settings_.rendezvous.look(executor::place_in(*group, "order", peer));
      const auto agrees = [&] {
        const std::lock_guard lock(mutex_);
        return lanes_[group->number].order.agrees(from_bytes<Point>(*theirs));
      };
      if (theirs && !agrees()) fail_by_difference(*group, peer);
    }
  }
}

void NcclWatch::fail_by(const NcclGroup& group, const OperationHeader& theirs, const OperationHeader& ours, sim::Rank peer) {
  fail(fmt::format("{}: the ranks disagree. Rank {} issued {} while rank {} issued {}.", group.name, peer.value(), to_text(theirs),
                   rank().value(), to_text(ours)));
}

// The peer finds the same, and tells what it has issued.
void NcclWatch::fail_by_difference(const NcclGroup& group, sim::Rank peer) {
  OperationOrder order;
  {
    const std::lock_guard lock(mutex_);
    order = lanes_[group.number].order;
  }
  settings_.rendezvous.put(executor::place_in(group, "log", rank()), order.log());
  for (const auto start = Clock::now(); Clock::now() - start < 2 * settings_.compare_after; std::this_thread::sleep_for(kRest)) {
    const auto log = settings_.rendezvous.look(executor::place_in(group, "log", peer));
    if (!log) continue;
    if (const auto found = order.first_difference(*log)) fail_by(group, found->there, found->here, peer);
  }
  fail(fmt::format("{}: the ranks disagree. Rank {} issued other operations than rank {} up to {}.", group.name, peer.value(),
                   rank().value(), to_text(order.last())));
}

void NcclWatch::fail_after(const Stuck& stuck) {
  std::string missing;
  for (const sim::Rank peer : stuck.group->members)
    if (peer != rank() && !settings_.rendezvous.look(place_in(*stuck.group, stuck.header, peer)))
      missing += fmt::format(" Rank {} has not come.", peer.value());
  fail(fmt::format("{}: rank {} waited {:.1f} s in {}.{}", stuck.group->name, rank().value(), stuck.waited.count(), to_text(stuck.header),
                   missing.empty() ? " All ranks came, but the operation did not end." : missing));
}

// With mutex_ held.
std::string NcclWatch::last_operations() {
  std::string text;
  for (const auto& [group, header] : last_) text += fmt::format("{} {} in the {}", text.empty() ? "" : ";", to_text(header), group->name);
  return text.empty() ? text : fmt::format(" The last operations of rank {}:{}.", rank().value(), text);
}

void NcclWatch::fail(const std::string& sentence) {
  std::vector<NcclHandle> handles;
  {
    const std::lock_guard lock(mutex_);
    if (!has_failed_) {
      failure_ = sentence + last_operations();
      handles = handles_;
    }
    has_failed_ = true;
  }
  {
    const std::lock_guard lock(asked_);
    for (const NcclHandle handle : handles) settings_.library->abort(handle);
  }
  const std::lock_guard lock(mutex_);
  throw CollectiveError(failure_);
}

}  // namespace executor
