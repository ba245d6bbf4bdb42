#include "planner/tally.h"

#include <algorithm>
#include <tuple>

namespace planner {

void Tally::add(std::size_t index, const Judgement& judgement) {
  const auto at = static_cast<std::size_t>(judgement.verdict);
  const bool is_refused = judgement.verdict == Verdict::Illegal || judgement.verdict == Verdict::NotRunnable;
  const Least own{judgement.verdict == Verdict::Beaten ? judgement.time.count() : judgement.memory.value(), index};
  if (counts_[at] == 0 || std::tie(own.measure, own.index) < std::tie(least_[at].measure, least_[at].index)) least_[at] = own;
  first_ = size_ == 0 ? index : std::min(first_, index);
  ++counts_[at];
  ++size_;
  legal_ += !judgement.is_sketch && !is_refused ? 1 : 0;
  if (is_refused) refused_.push_back(index);
}

void Tally::add(const Tally& other) {
  if (other.size_ == 0) return;
  first_ = size_ == 0 ? other.first_ : std::min(first_, other.first_);
  for (std::size_t at = 0; at < kVerdicts; ++at) {
    const Least &own = least_[at], &its = other.least_[at];
    if (other.counts_[at] == 0) continue;
    if (counts_[at] == 0 || std::tie(its.measure, its.index) < std::tie(own.measure, own.index)) least_[at] = its;
    counts_[at] += other.counts_[at];
  }
  size_ += other.size_;
  legal_ += other.legal_;
  refused_.insert(refused_.end(), other.refused_.begin(), other.refused_.end());
}

}  // namespace planner
