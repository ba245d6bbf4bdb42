// Activities that share links, at max-min fair speeds: all speeds rise together from 0, and stop where a link is full
// (sum of share * speed = its capacity, 1 unless it is damaged) or at full speed.
//
// Integers throughout: shares are counted in 2^-20, speeds in 2^-30, work in picoseconds * 2^-30. An activity that is never
// slowed therefore ends exactly after its duration, and n equal activities slow each other exactly as one with n times the share does:
// a folded graph and its unfolded twin get the same picosecond.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/units/index.h"
#include "sim/units/sim_time.h"

namespace sim {

class LinkSharing {
 public:
  struct NumLinks {
    std::int32_t value = 0;
  };
  explicit LinkSharing(NumLinks num_links);
  void limit(LinkId link, double capacity);  // what is left of it, above 0; before anything starts

  // Starts activity `id` (the caller's number; not one that runs already). `uses` may name a link several times: shares add up.
  void start(std::int32_t id, SimTime now, SimTime duration, std::span<const LinkUse> uses);
  void finish(std::int32_t id);

  struct NewEnd {
    std::int32_t id = 0;
    SimTime time{};
  };
  // After all starts and finishes of the instant `now`: the activities whose end is new or has moved. Valid until the next call.
  std::span<const NewEnd> settle(SimTime now);
  bool needs_settling() const { return !fresh_.empty() || !dirty_.empty(); }

 private:
  __extension__ using Work = __int128;
  struct Use {
    std::int32_t link = 0;
    std::int64_t share = 0;
  };
  struct Activity {
    std::int32_t id = -1;  // -1: a free slot
    Work remaining{};      // at `since`
    SimTime since{};
    std::int64_t speed = 0;
    bool touched = false;     // belongs to the part that is being solved
    std::int64_t solved = 0;  // its new speed there; -1: not fixed yet
    std::vector<Use> uses;
  };
  static constexpr std::int64_t kShareOne = std::int64_t{1} << 20;
  struct Link {
    std::int64_t capacity = kShareOne;
    std::int64_t load = 0;   // sum of the shares of its activities
    bool congested = false;  // load > capacity when last solved
    bool dirty = false, touched = false;
    std::int64_t left = 0, rising = 0;  // while solving: capacity not taken by fixed speeds; shares of those still rising
    std::vector<std::int32_t> slots;    // of its activities
  };

  void touch_link(std::int32_t link);
  void collect();  // everything that the dirty links can slow or release
  void solve();
  void fix(Activity& activity, std::int64_t level);
  void set_speed(Activity& activity, SimTime now, std::int64_t speed);
  void forget();

  std::vector<Link> links_;
  std::vector<Activity> activities_;                // by slot
  std::vector<std::int32_t> free_slots_, slot_of_;  // slot_of_: by id
  std::vector<std::int32_t> fresh_;                 // slots started in this instant
  std::vector<std::int32_t> dirty_;                 // links
  std::vector<std::int32_t> part_links_, part_slots_, full_links_;
  std::vector<NewEnd> ends_;
};

}  // namespace sim
