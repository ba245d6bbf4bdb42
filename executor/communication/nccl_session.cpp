#include "executor/communication/nccl_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <thread>

namespace executor {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenArrivals{1};

std::string name_of_group(const std::vector<sim::Rank>& members, const std::string& name) {
  std::vector<std::int32_t> ranks;
  for (const sim::Rank member : members) ranks.push_back(member.value());
  return fmt::format("{} group of ranks {}", name, fmt::join(ranks, " "));
}

}  // namespace

// While an exception passes, peers may not come: nothing is waited for.
NcclSession::~NcclSession() {
  const bool has_failed = watch_->has_failed(), is_well = !has_failed && std::uncaught_exceptions() == 0;
  watch_.reset();  // looks at nothing that ends
  for (const NcclGroup& group : groups_) {
    if (is_well && settings_.library->finalize(group.handle) == NcclStatus::Success)
      settings_.library->destroy(group.handle);
    else if (!has_failed)
      settings_.library->abort(group.handle);
  }
}

// NCCL would wait for them without end.
void NcclSession::wait_for_members(const NcclGroup& group) {
  for (const auto start = Clock::now();; std::this_thread::sleep_for(kBetweenArrivals)) {
    std::string missing;
    for (const sim::Rank member : group.members)
      if (member != group.members.front() && !settings_.rendezvous.look(place_in(group, "here", member)))
        missing += fmt::format(" Rank {} has not come.", member.value());
    if (missing.empty()) return;
    const sim::Seconds waited = Clock::now() - start;
    if (waited > settings_.options.time_limit)
      watch_->fail(
          fmt::format("{}: rank {} waited {:.1f} s in making its communicator.{}", group.name, group.rank, waited.count(), missing));
  }
}

// The first member gives out the id when all others have come.
NcclId NcclSession::meet(const NcclGroup& group) {
  NcclId id;
  const std::string id_name = place_in(group, "id", group.members.front());
  if (group.rank == 0) {
    wait_for_members(group);
    require(settings_.library->make_id(id), group, "making its id");
    settings_.rendezvous.put(id_name, {id.bytes.data(), id.bytes.size()});
    return id;
  }
  settings_.rendezvous.put(place_in(group, "here", sim::Rank(settings_.place.rank)), "1");
  const std::string bytes = settings_.rendezvous.get(id_name);
  std::copy_n(bytes.data(), std::min(bytes.size(), id.bytes.size()), id.bytes.data());
  return id;
}

const NcclGroup* NcclSession::make_group(const std::vector<sim::Rank>& members, const std::string& name) {
  NcclGroup group{.handle = nullptr, .members = members, .rank = 0, .name = name_of_group(members, name), .number = groups_made_++};
  const auto self = std::find(members.begin(), members.end(), sim::Rank(settings_.place.rank));
  if (self == members.end()) return nullptr;
  group.rank = static_cast<std::int32_t>(self - members.begin());
  const NcclId id = meet(group);
  require(settings_.library->start(group.handle, id, {.rank = group.rank, .size = static_cast<std::int32_t>(members.size())}), group,
          "making its communicator");
  const NcclGroup& made = groups_.emplace_back(group);
  watch_->add(made);
  return &made;
}

void NcclSession::require(NcclStatus status, const NcclGroup& group, const std::string& what) {
  watch_->require_health();
  if (status != NcclStatus::Success)
    watch_->fail(fmt::format("{}: NCCL failed on rank {} in {}: {}.", group.name, group.rank, what,
                             settings_.library->describe(status, group.handle)));
}

}  // namespace executor
