#include "tests/executor/communication/fake_nccl.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/checked_device/recording.h"

namespace executor {

// One operation of a group: what each place brought.
struct FakeMeeting {
  std::map<std::int32_t, NcclBuffer> places;
  bool done = false;
};
struct FakeGroup;
// Of a group into parts, when all have said which.
struct FakeSplit {
  std::map<std::int32_t, NcclPart> places;
  std::map<std::int32_t, std::shared_ptr<FakeGroup>> parts;  // by color
};
struct FakeGroup {
  std::int32_t size = 0, came = 0;
  std::map<std::int64_t, std::shared_ptr<FakeMeeting>> meetings;                      // by position in the order
  std::map<std::pair<std::int32_t, std::int32_t>, std::deque<std::string>> messages;  // from, to
  std::map<std::int64_t, FakeSplit> splits;                                           // by position in their order
};
struct NcclCommunicatorOfLibrary {
  std::shared_ptr<FakeGroup> group;
  NcclPlace place;
  std::int64_t position = 0, splits = 0;
  bool aborted = false, finalised = false;
  std::shared_ptr<int> held_by_graphs = std::make_shared<int>();
};

namespace {

std::mutex mutex;
std::condition_variable changed;
FakeNcclSettings settings;
std::map<std::string, std::string> words;
std::map<std::string, std::shared_ptr<FakeGroup>> groups;
std::vector<std::unique_ptr<NcclCommunicatorOfLibrary>> communicators;
FakeNcclCalls calls;
std::int32_t ids = 0;

constexpr NcclStatus kRemoteError{6}, kInUse{5};  // NCCL would wait for its graphs without end

NcclStatus make_id(NcclId& id) {
  const std::lock_guard lock(mutex);
  const std::string text = "fake " + std::to_string(++ids);
  text.copy(id.bytes.data(), id.bytes.size());
  return NcclStatus::Success;
}

NcclHandle joined(const std::shared_ptr<FakeGroup>& group, NcclPlace place) {
  group->size = place.size;
  ++group->came;
  const NcclHandle handle = communicators.emplace_back(std::make_unique<NcclCommunicatorOfLibrary>()).get();
  handle->group = group;
  handle->place = place;
  return handle;
}

NcclStatus start(NcclHandle& handle, const NcclId& id, NcclPlace place) {
  std::unique_lock lock(mutex);
  std::shared_ptr<FakeGroup>& group = groups[std::string(id.bytes.data(), id.bytes.size())];
  if (!group) group = std::make_shared<FakeGroup>();
  handle = joined(group, place);
  changed.notify_all();
  const std::shared_ptr<FakeGroup> ours = group;
  changed.wait_for(lock, settings.patience, [&] { return ours->came == ours->size; });
  return NcclStatus::Success;
}

// By key, and then as they stand in the whole.
NcclPlace place_in_part(const FakeSplit& split, std::int32_t self) {
  const NcclPart own = split.places.at(self);
  NcclPlace place{.rank = 0, .size = 0};
  for (const auto& [rank, part] : split.places) {
    if (part.color != own.color) continue;
    ++place.size;
    place.rank += std::pair(part.key, rank) < std::pair(own.key, self) ? 1 : 0;
  }
  return place;
}

// Who comes waits for the others without end, as in NCCL.
NcclStatus split(NcclHandle& handle, NcclHandle whole, NcclPart part) {
  std::unique_lock lock(mutex);
  FakeSplit& split = whole->group->splits[whole->splits++];
  split.places[whole->place.rank] = part;
  changed.notify_all();
  changed.wait(lock, [&] { return whole->aborted || static_cast<std::int32_t>(split.places.size()) == whole->group->size; });
  if (whole->aborted) return kRemoteError;
  handle = nullptr;
  if (part.color == kNoPart) return NcclStatus::Success;
  std::shared_ptr<FakeGroup>& group = split.parts[part.color];
  if (!group) group = std::make_shared<FakeGroup>();
  handle = joined(group, place_in_part(split, whole->place.rank));
  return NcclStatus::Success;
}

NcclStatus state(NcclHandle handle) {
  const std::lock_guard lock(mutex);
  ++calls.states;
  if (handle->place.rank == settings.failing_rank) return kRemoteError;
  return handle->group->came == handle->group->size ? NcclStatus::Success : NcclStatus::InProgress;
}

std::string bytes_at(const void* address, std::size_t bytes) {
  std::string result(bytes, '\0');
  copy_checked(result.data(), address, bytes);
  return result;
}

std::size_t bytes_of(const NcclBuffer& buffer) { return buffer.elements * c10::elementSize(buffer.type); }

template <class Number>
void add(std::string& into, const std::string& other, ReduceOperation operation) {
  for (std::size_t at = 0; at < into.size(); at += sizeof(Number)) {
    Number one, two;
    std::memcpy(&one, into.data() + at, sizeof one);
    std::memcpy(&two, other.data() + at, sizeof two);
    one = operation == ReduceOperation::Sum ? one + two : std::max(one, two);
    std::memcpy(into.data() + at, &one, sizeof one);
  }
}

std::string sum_of(const FakeMeeting& meeting, std::size_t bytes, ReduceOperation operation) {
  std::string sum;
  for (const auto& [place, buffer] : meeting.places) {
    const std::string mine = bytes_at(buffer.from, bytes);
    if (sum.empty())
      sum = mine;
    else if (buffer.type == c10::kDouble)
      add<double>(sum, mine, operation);
    else if (buffer.type == c10::kFloat)
      add<float>(sum, mine, operation);
    else if (buffer.type == c10::kLong)
      add<std::int64_t>(sum, mine, operation);
    else
      add<std::int32_t>(sum, mine, operation);
  }
  return sum;
}

// What follows on this stream has not ended before the operation has, and no host sees that too early.
// Abort ends it.
void go_on_behind(NcclHandle handle, std::function<bool()> ended) {
  hold_current_stream([handle, ended = std::move(ended), until = std::chrono::steady_clock::now() + settings.lasts] {
    const std::lock_guard inside(mutex);
    return handle->aborted || (std::chrono::steady_clock::now() >= until && ended());
  });
}

// What a graph records it holds on to: its communicator cannot end before it does.
bool record(const NcclOn& on, std::function<void()> call) {
  return record_call([call = std::move(call), held = on.communicator->held_by_graphs] { call(); });
}

using Perform = std::function<void(const FakeMeeting&)>;

// The last one to come performs it for all. Who does not come in time leaves the others' streams held.
NcclStatus meet(const NcclBuffer& buffer, const NcclOn& on, std::size_t reads, std::size_t writes, const Perform& perform) {
  use_on_current_stream({.address = buffer.from, .bytes = reads});
  use_on_current_stream({.address = buffer.to, .bytes = writes, .writes = true});
  if (record(on, [=] { meet(buffer, on, reads, writes, perform); })) return NcclStatus::Success;
  std::unique_lock lock(mutex);
  ++calls.operations;
  FakeGroup& group = *on.communicator->group;
  std::shared_ptr<FakeMeeting>& slot = group.meetings[on.communicator->position++];
  if (!slot) slot = std::make_shared<FakeMeeting>();
  const std::shared_ptr<FakeMeeting> meeting = slot;
  meeting->places[on.communicator->place.rank] = buffer;
  if (static_cast<std::int32_t>(meeting->places.size()) == group.size) {
    perform(*meeting);
    meeting->done = true;
    changed.notify_all();
  } else
    changed.wait_for(lock, settings.patience, [&] { return meeting->done; });
  lock.unlock();
  go_on_behind(on.communicator, [meeting] { return meeting->done; });
  return NcclStatus::Success;
}

NcclStatus all_reduce(const NcclBuffer& buffer, ReduceOperation operation, const NcclOn& on) {
  const std::size_t bytes = bytes_of(buffer);
  return meet(buffer, on, bytes, bytes, [=](const FakeMeeting& meeting) {
    const std::string sum = sum_of(meeting, bytes, operation);
    for (const auto& [place, theirs] : meeting.places) copy_checked(theirs.to, sum.data(), bytes);
  });
}

NcclStatus reduce_scatter(const NcclBuffer& buffer, const NcclOn& on) {
  const std::size_t bytes = bytes_of(buffer), all = bytes * static_cast<std::size_t>(on.communicator->place.size);
  return meet(buffer, on, all, bytes, [=](const FakeMeeting& meeting) {
    const std::string sum = sum_of(meeting, all, ReduceOperation::Sum);
    for (const auto& [place, theirs] : meeting.places) copy_checked(theirs.to, sum.data() + static_cast<std::size_t>(place) * bytes, bytes);
  });
}

NcclStatus reduce(const NcclBuffer& buffer, std::int32_t root, const NcclOn& on) {
  const std::size_t bytes = bytes_of(buffer);
  return meet(buffer, on, bytes, on.communicator->place.rank == root ? bytes : 0, [=](const FakeMeeting& meeting) {
    copy_checked(meeting.places.at(root).to, sum_of(meeting, bytes, ReduceOperation::Sum).data(), bytes);
  });
}

NcclStatus all_gather(const NcclBuffer& buffer, const NcclOn& on) {
  const std::size_t bytes = bytes_of(buffer), all = bytes * static_cast<std::size_t>(on.communicator->place.size);
  return meet(buffer, on, bytes, all, [=](const FakeMeeting& meeting) {
    std::string joined;
    for (const auto& [place, theirs] : meeting.places) joined += bytes_at(theirs.from, bytes);
    for (const auto& [place, theirs] : meeting.places) copy_checked(theirs.to, joined.data(), all);
  });
}

NcclStatus broadcast(const NcclBuffer& buffer, std::int32_t root, const NcclOn& on) {
  const std::size_t bytes = bytes_of(buffer);
  return meet(buffer, on, bytes, bytes, [=](const FakeMeeting& meeting) {
    const std::string words_of_root = bytes_at(meeting.places.at(root).from, bytes);
    for (const auto& [place, theirs] : meeting.places) copy_checked(theirs.to, words_of_root.data(), bytes);
  });
}

NcclStatus send(const NcclBuffer& buffer, std::int32_t to, const NcclOn& on) {
  use_on_current_stream({.address = buffer.from, .bytes = bytes_of(buffer)});
  if (record(on, [=] { send(buffer, to, on); })) return NcclStatus::Success;
  {
    const std::lock_guard lock(mutex);
    ++calls.operations;
    on.communicator->group->messages[{on.communicator->place.rank, to}].push_back(bytes_at(buffer.from, bytes_of(buffer)));
  }
  changed.notify_all();  // what the stream is held by asks for the mutex
  go_on_behind(on.communicator, [] { return true; });
  return NcclStatus::Success;
}

NcclStatus receive(const NcclBuffer& buffer, std::int32_t from, const NcclOn& on) {
  use_on_current_stream({.address = buffer.to, .bytes = bytes_of(buffer), .writes = true});
  if (record(on, [=] { receive(buffer, from, on); })) return NcclStatus::Success;
  std::unique_lock lock(mutex);
  ++calls.operations;
  auto& messages = on.communicator->group->messages[{from, on.communicator->place.rank}];
  if (!changed.wait_for(lock, settings.patience, [&] { return !messages.empty(); })) {
    lock.unlock();
    go_on_behind(on.communicator, [] { return false; });
    return NcclStatus::Success;
  }
  copy_checked(buffer.to, messages.front().data(), bytes_of(buffer));
  messages.pop_front();
  lock.unlock();
  go_on_behind(on.communicator, [] { return true; });
  return NcclStatus::Success;
}

// All sends, then all receives: none of the fake's sends waits.
NcclStatus exchange(const NcclBuffer& buffer, const NcclStretches& stretches, const NcclOn& on) {
  const std::size_t width = c10::elementSize(buffer.type);
  const auto* from = static_cast<const char*>(buffer.from);
  auto* to = static_cast<char*>(buffer.to);
  for (std::size_t peer = 0; peer < stretches.to.size(); from += stretches.to[peer++] * width)
    if (stretches.to[peer] > 0)
      send({.from = from, .elements = stretches.to[peer], .type = buffer.type}, static_cast<std::int32_t>(peer), on);
  for (std::size_t peer = 0; peer < stretches.from.size(); to += stretches.from[peer++] * width)
    if (stretches.from[peer] > 0)
      receive({.to = to, .elements = stretches.from[peer], .type = buffer.type}, static_cast<std::int32_t>(peer), on);
  return NcclStatus::Success;
}

NcclStatus abort_one(NcclHandle handle) {
  const std::lock_guard lock(mutex);
  calls.aborted += handle->aborted ? 0 : 1;
  handle->aborted = true;
  changed.notify_all();
  return NcclStatus::Success;
}

NcclStatus finalize_one(NcclHandle handle) {
  const std::lock_guard lock(mutex);
  if (handle->held_by_graphs.use_count() > 1) return kInUse;
  calls.finalised += handle->aborted ? 0 : 1;
  handle->finalised = true;
  return handle->aborted ? kRemoteError : NcclStatus::Success;
}

NcclStatus destroy_one(NcclHandle handle) {
  const std::lock_guard lock(mutex);
  calls.destroyed += handle->finalised ? 1 : 0;
  return NcclStatus::Success;
}

}  // namespace

const NcclLibrary& fake_nccl() {
  static const NcclLibrary library{
      .make_id = make_id,
      .start = start,
      .split = split,
      .state = state,
      .abort = abort_one,
      .finalize = finalize_one,
      .destroy = destroy_one,
      .all_reduce = all_reduce,
      .reduce_scatter = reduce_scatter,
      .reduce = reduce,
      .all_gather = all_gather,
      .exchange = exchange,
      .broadcast = broadcast,
      .send = send,
      .receive = receive,
      .describe = [](NcclStatus status, NcclHandle) { return "fake error " + std::to_string(static_cast<std::int32_t>(status)); }};
  return library;
}

Rendezvous fake_rendezvous() {
  return {.put =
              [](const std::string& name, const std::string& value) {
                const std::lock_guard lock(mutex);
                words[name] = value;
                changed.notify_all();
              },
          .get =
              [](const std::string& name) {
                std::unique_lock lock(mutex);
                if (!changed.wait_for(lock, std::chrono::seconds(5), [&] { return words.contains(name); }))
                  throw CollectiveError("no word " + name);
                return words.at(name);
              },
          .look = [](const std::string& name) -> std::optional<std::string> {
            const std::lock_guard lock(mutex);
            const auto found = words.find(name);
            return found == words.end() ? std::nullopt : std::optional(found->second);
          }};
}

void reset_fake_nccl(const FakeNcclSettings& to) {
  const std::lock_guard lock(mutex);
  settings = to;
  words.clear();
  groups.clear();
  calls = {};
}

FakeNcclCalls fake_nccl_calls() {
  const std::lock_guard lock(mutex);
  return calls;
}

void run_ranks(std::int32_t ranks, const std::function<void(NcclPlace place)>& rank) {
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (std::int32_t at = 0; at < ranks; ++at)
    threads.emplace_back([&, at] {
      try {
        rank({.rank = at, .size = ranks});
      } catch (...) {
        thrown[static_cast<std::size_t>(at)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : thrown)
    if (error) std::rethrow_exception(error);
}

}  // namespace executor
