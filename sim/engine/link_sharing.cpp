#include "sim/engine/link_sharing.h"

#include <algorithm>
#include <utility>

#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::int64_t kFullSpeed = std::int64_t{1} << 30;
constexpr std::int64_t kUnset = -1;

}  // namespace

LinkSharing::LinkSharing(NumLinks num_links) : links_(count_of(num_links.value)) {}

void LinkSharing::limit(LinkId link, double capacity) {
  links_[link.position()].capacity = static_cast<std::int64_t>(capacity * static_cast<double>(kShareOne));
}

void LinkSharing::start(std::int32_t id, SimTime now, SimTime duration, std::span<const LinkUse> uses) {
  std::int32_t slot = static_cast<std::int32_t>(activities_.size());
  if (free_slots_.empty())
    activities_.emplace_back();
  else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  if (std::cmp_less_equal(slot_of_.size(), id)) slot_of_.resize(count_of(id) + 1, -1);
  sim::at(slot_of_, id) = slot;
  fresh_.push_back(slot);

  Activity& activity = sim::at(activities_, slot);
  activity.id = id;
  activity.remaining = Work{duration.count()} * kFullSpeed;
  activity.since = now;
  activity.speed = kUnset;
  for (const LinkUse& use : uses) {
    const auto share = static_cast<std::int64_t>(use.share * static_cast<double>(kShareOne));
    if (share == 0) continue;
    const auto known = std::find_if(activity.uses.begin(), activity.uses.end(), [&](const Use& u) { return u.link == use.link.value(); });
    Link& link = links_[use.link.position()];
    link.load += share;
    if (known != activity.uses.end()) {
      known->share += share;
      continue;
    }
    activity.uses.push_back({use.link.value(), share});
    link.slots.push_back(slot);
  }
  for (const Use& use : activity.uses) touch_link(use.link);
}

void LinkSharing::finish(std::int32_t id) {
  const std::int32_t slot = sim::at(slot_of_, id);
  Activity& activity = sim::at(activities_, slot);
  for (const Use& use : activity.uses) {
    Link& link = sim::at(links_, use.link);
    link.load -= use.share;
    *std::find(link.slots.begin(), link.slots.end(), slot) = link.slots.back();
    link.slots.pop_back();
    touch_link(use.link);
  }
  activity.uses.clear();
  activity.id = -1;
  free_slots_.push_back(slot);
}

// A link matters only when it is too full now, or was before (and now lets its activities go).
void LinkSharing::touch_link(std::int32_t index) {
  Link& link = sim::at(links_, index);
  if (link.dirty || (link.load <= link.capacity && !link.congested)) return;
  link.dirty = true;
  dirty_.push_back(index);
}

std::span<const LinkSharing::NewEnd> LinkSharing::settle(SimTime now) {
  ends_.clear();
  if (!dirty_.empty()) {
    collect();
    solve();
    for (const std::int32_t slot : part_slots_) {
      Activity& activity = sim::at(activities_, slot);
      activity.touched = false;
      if (activity.speed != activity.solved) set_speed(activity, now, activity.solved);
    }
    forget();
  }
  for (const std::int32_t slot : fresh_) {
    Activity& activity = sim::at(activities_, slot);
    if (activity.id >= 0 && activity.speed == kUnset) set_speed(activity, now, kFullSpeed);
  }
  fresh_.clear();
  return ends_;
}

void LinkSharing::collect() {
  part_links_ = dirty_;
  for (const std::int32_t index : part_links_) sim::at(links_, index).touched = true;
  for (std::size_t at = 0; at < part_links_.size(); ++at) {
    for (const std::int32_t slot : sim::at(links_, part_links_[at]).slots) {
      Activity& activity = sim::at(activities_, slot);
      if (activity.touched) continue;
      activity.touched = true;
      activity.solved = kUnset;
      part_slots_.push_back(slot);
      for (const Use& use : activity.uses) {
        Link& link = sim::at(links_, use.link);
        if (link.touched || (link.load <= link.capacity && !link.congested)) continue;
        link.touched = true;
        part_links_.push_back(use.link);
      }
    }
  }
}

void LinkSharing::fix(Activity& activity, std::int64_t level) {
  if (activity.solved != kUnset) return;
  activity.solved = level;
  for (const Use& use : activity.uses) {
    Link& link = sim::at(links_, use.link);
    link.left -= use.share * level;
    link.rising -= use.share;
  }
}

// Progressive filling over the collected part. Each round fixes the activities of the links that fill first.
void LinkSharing::solve() {
  for (const std::int32_t index : part_links_) {
    Link& link = sim::at(links_, index);
    link.left = link.capacity * kFullSpeed;
    link.rising = link.load;
  }
  for (;;) {
    std::int64_t level = kFullSpeed;
    for (const std::int32_t index : part_links_) {
      const Link& link = sim::at(links_, index);
      if (link.rising > 0) level = std::min(level, link.left / link.rising);
    }
    if (level == kFullSpeed) break;
    full_links_.clear();  // chosen before any is fixed: equal links stay equal
    for (const std::int32_t index : part_links_) {
      const Link& link = sim::at(links_, index);
      if (link.rising > 0 && link.left / link.rising == level) full_links_.push_back(index);
    }
    for (const std::int32_t index : full_links_)
      for (const std::int32_t slot : sim::at(links_, index).slots) fix(sim::at(activities_, slot), level);
  }
  for (const std::int32_t slot : part_slots_) {
    Activity& activity = sim::at(activities_, slot);
    if (activity.solved == kUnset) activity.solved = kFullSpeed;
  }
}

void LinkSharing::set_speed(Activity& activity, SimTime now, std::int64_t speed) {
  if (activity.speed != kUnset) activity.remaining -= Work{(now - activity.since).count()} * activity.speed;
  activity.since = now;
  activity.speed = speed;
  ends_.push_back({activity.id, now + SimTime(static_cast<std::int64_t>((activity.remaining + speed - 1) / speed))});
}

void LinkSharing::forget() {
  for (const std::int32_t index : part_links_) {
    Link& link = sim::at(links_, index);
    link.congested = link.load > link.capacity;
    link.dirty = link.touched = false;
  }
  part_links_.clear();
  part_slots_.clear();
  dirty_.clear();
}

}  // namespace sim
