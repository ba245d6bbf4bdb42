// The planner's last answer as a file ("meshwright.answer/2"), so that the next window shows the same plans without a search.
#pragma once

#include <string>

#include "planner/search.h"

namespace gui {

struct LastAnswer {
  planner::SearchResult result;  // the plans with the figures that tables show; without what the devices do
  sim::Bytes limit{};
};
void saveAnswer(const LastAnswer& answer, const std::string& path);  // throws sim::InputError
LastAnswer loadAnswer(const std::string& path);                      // throws sim::InputError

}  // namespace gui
