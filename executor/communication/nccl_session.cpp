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
constexpr std::int32_t kOfWhole = -1;  // a number that no group has

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
  const auto end = [&](NcclHandle handle) {
    if (handle == nullptr || has_failed) return;
    if (is_well && settings_.library->finalize(handle) == NcclStatus::Success)
      settings_.library->destroy(handle);
    else
      settings_.library->abort(handle);
  };
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group)
    if (group->handle != whole_.handle) end(group->handle);
  end(whole_.handle);
}

// NCCL would wait for them without end.
void NcclSession::wait_for_all() {
  for (const auto start = Clock::now();; std::this_thread::sleep_for(kBetweenArrivals)) {
    std::string missing;
    for (const sim::Rank member : whole_.members)
      if (member != whole_.members.front() && !settings_.rendezvous.look(place_in(whole_, "here", member)))
        missing += fmt::format(" Rank {} has not come.", member.value());
    if (missing.empty()) return;
    const sim::Seconds waited = Clock::now() - start;
    if (waited > settings_.options.time_limit)
      watch_->fail(
          fmt::format("{}: rank {} waited {:.1f} s in making its communicator.{}", whole_.name, whole_.rank, waited.count(), missing));
  }
}

// The first rank gives out the id when all others have come.
NcclId NcclSession::meet() {
  NcclId id;
  const std::string id_name = place_in(whole_, "id", whole_.members.front());
  if (whole_.rank == 0) {
    wait_for_all();
    require(settings_.library->make_id(id), whole_, "making its id");
    settings_.rendezvous.put(id_name, {id.bytes.data(), id.bytes.size()});
    return id;
  }
  settings_.rendezvous.put(place_in(whole_, "here", sim::Rank(settings_.place.rank)), "1");
  const std::string bytes = settings_.rendezvous.get(id_name);
  std::copy_n(bytes.data(), std::min(bytes.size(), id.bytes.size()), id.bytes.data());
  return id;
}

void NcclSession::start_whole(const NcclGroup& first) {
  whole_ = {.handle = nullptr, .members = {}, .rank = settings_.place.rank, .name = {}, .number = kOfWhole};
  for (std::int32_t rank = 0; rank < settings_.place.size; ++rank) whole_.members.emplace_back(rank);
  whole_.name = first.members == whole_.members ? first.name : name_of_group(whole_.members, "world");
  require(settings_.library->start(whole_.handle, meet(), settings_.place), whole_, "making its communicator");
  watch_->keep(whole_.handle);
}

const NcclGroup* NcclSession::make_group(const std::vector<sim::Rank>& members, const std::string& name) {
  NcclGroup group{.handle = nullptr, .members = members, .rank = 0, .name = name_of_group(members, name), .number = groups_made_++};
  const auto self = std::find(members.begin(), members.end(), sim::Rank(settings_.place.rank));
  const bool is_member = self != members.end();
  if (is_member) group.rank = static_cast<std::int32_t>(self - members.begin());
  if (whole_.handle == nullptr) start_whole(group);
  if (groups_made_ == 1 && members == whole_.members)
    group.handle = whole_.handle;
  else {
    const NcclWatch::Making made(*watch_, group);
    const NcclPart part{.color = is_member ? members.front().value() : kNoPart, .key = group.rank};
    require(settings_.library->split(group.handle, whole_.handle, part), group, "making its communicator");
    if (is_member) watch_->keep(group.handle);
  }
  if (!is_member) return nullptr;
  const NcclGroup& made = groups_.emplace_back(group);
  watch_->add(made);
  return &made;
}

void NcclSession::begin_recording() {
  watch_->rest(true);
  is_recording_ = true;
  recorded_.clear();
}

void NcclSession::end_recording() {
  is_recording_ = false;
  watch_->rest(false);
}

void NcclSession::replayed() {
  watch_->require_health();
  if (recorded_.empty()) return;
  const NcclWatch::Ended ended = watch_->now();
  for (const Again& again : recorded_) again(ended);
}

void NcclSession::require(NcclStatus status, const NcclGroup& group, const std::string& what) {
  watch_->require_health();
  if (status != NcclStatus::Success)
    watch_->fail(fmt::format("{}: NCCL failed on rank {} in {}: {}.", group.name, settings_.place.rank, what,
                             settings_.library->describe(status, group.handle)));
}

}  // namespace executor
