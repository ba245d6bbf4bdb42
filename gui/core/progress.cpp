#include "gui/core/progress.h"

#include <algorithm>

#include "sim/units/input_error.h"

namespace gui {

double Progress::share() const {
  const std::int64_t of = all;
  return std::clamp(of > 0 ? static_cast<double>(done) / static_cast<double>(of) : part.load(), 0.0, 1.0);
}

void Progress::stopIfCancelled() const {
  if (cancelled) throw sim::InputError("", {{"", "was cancelled", ""}});
}

void ProgressPart::operator()(const sim::HowFar& far) const {
  whole.stopIfCancelled();
  whole.part = begin + (end - begin) * (far.all > 0 ? static_cast<double>(far.done) / static_cast<double>(far.all) : 0);
}

double InTurn::share(const sim::HowFar& now) {
  const bool is_next = now.all != last_.all || now.done < last_.done;
  if (is_next && last_.all > 0) at_ = std::min(at_ + 1, pieces_ - 1);
  last_ = now;
  const double of_this = now.all > 0 ? static_cast<double>(now.done) / static_cast<double>(now.all) : 0;
  share_ = std::max(share_, (static_cast<double>(at_) + of_this) / static_cast<double>(pieces_));
  return share_;
}

std::optional<sim::Seconds> Pace::left(double share, sim::Seconds since) {
  constexpr double kLeast = 0.02;
  constexpr sim::Seconds kSoon{1};
  if (share < kLeast || share >= 1 || since < kSoon) return std::nullopt;
  if (share != share_) {
    share_ = share;
    all_ = since / share;
  }
  return all_ > since ? std::optional(all_ - since) : std::nullopt;
}

}  // namespace gui
