#include "sim/timeline/activity.h"

#include "sim/timeline/intervals.h"

namespace sim {

StepActivity activity_of(std::span<const Span> spans) {
  StepActivity sums;
  std::vector<Intervals::Interval> computing, communicating;
  for (const Span& span : spans) {
    sums.kinds[kind_text(span.key)] += span.end - span.start;
    const bool communicates = moves_data(span.key.operation);
    (communicates ? communicating : computing).push_back({span.start, span.end});
    if (!communicates) sums.computing += span.end - span.start;
  }
  const Intervals busy(std::move(computing)), open(std::move(communicating));
  sums.busy = busy.length();
  sums.communicating = open.length();
  sums.hidden = open.length_within(busy);
  return sums;
}

}  // namespace sim
