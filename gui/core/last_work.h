// What a person works on: the question, the plans that were turned into each other with the one that is shown, the view of the timeline. Kept as a
// file ("meshwright.work/1") while it changes, so that the next window goes on from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gui/core/plan_question.h"
#include "gui/core/view_state.h"
#include "sim/plan/parallel_plan.h"

namespace gui {

struct RunForm {  // as filled in on the Run page
  std::string data, folder;
  std::int64_t steps = 0;  // 0: nothing was kept
  bool operator==(const RunForm&) const = default;
};

struct LastWork {
  PlanQuestion question;
  std::vector<sim::ParallelPlan> plans;  // each turned out of the one before: the way of undo and redo; may be empty
  std::size_t shown = 0;                 // of the plans
  ViewState view;
  NotesByPlan notes{};  // of plans that are not shown
  RunForm run{};
  bool every_rank = false;  // by itself on the timeline
  bool dense = false;       // a line a rank there
};

// Plans that break a rule are left out, and of very many the oldest: what is shown is the nearest that is kept.
void saveWork(const LastWork& work, const std::string& path);  // throws sim::InputError
LastWork loadWork(const std::string& path);                    // throws sim::InputError

}  // namespace gui
