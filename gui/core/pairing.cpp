#include "gui/core/pairing.h"

#include <algorithm>
#include <map>

namespace gui {
namespace {

using KeyedSpans = std::multimap<sim::TaskKey, std::uint32_t>;

std::vector<std::vector<std::uint32_t>> spansByDevice(const sim::Timeline& timeline) {
  std::vector<std::vector<std::uint32_t>> spans(timeline.devices.size());
  for (std::uint32_t at = 0; at < timeline.spans.size(); ++at) spans[timeline.spans[at].device.position()].push_back(at);
  return spans;
}

std::optional<std::size_t> deviceFor(const sim::GraphDevice& wanted, const sim::Timeline& timeline) {
  std::optional<std::size_t> of_stage;
  for (std::size_t device = 0; device < timeline.devices.size(); ++device) {
    if (timeline.devices[device].representative == wanted.representative) return device;
    if (timeline.devices[device].multiplicity > 1 && timeline.devices[device].stage == wanted.stage && !of_stage) of_stage = device;
  }
  return of_stage;
}

KeyedSpans keyed(const sim::Timeline& timeline, const std::vector<std::uint32_t>& spans) {
  KeyedSpans keyed;
  for (const std::uint32_t span : spans) keyed.emplace(timeline.spans[span].key, span);
  return keyed;
}

}  // namespace

Pairing pairUp(const sim::Timeline& left, const sim::Timeline& right) {
  Pairing pairing;
  std::vector<bool> met(left.spans.size());
  const std::vector<std::vector<std::uint32_t>> left_spans = spansByDevice(left), right_spans = spansByDevice(right);
  for (std::size_t device = 0; device < right.devices.size(); ++device) {
    const std::optional<std::size_t> partner = deviceFor(right.devices[device], left);
    KeyedSpans waiting = partner ? keyed(left, left_spans[*partner]) : KeyedSpans();
    for (const std::uint32_t span : right_spans[device]) {
      const auto found = waiting.find(right.spans[span].key);
      if (found == waiting.end()) {
        pairing.only_right.push_back(span);
        continue;
      }
      pairing.pairs.push_back({found->second, span});
      met[found->second] = true;
      waiting.erase(found);
    }
  }
  for (std::uint32_t span = 0; span < left.spans.size(); ++span)
    if (!met[span]) pairing.only_left.push_back(span);
  std::sort(pairing.pairs.begin(), pairing.pairs.end(), [](const Pair& a, const Pair& b) { return a.right < b.right; });
  return pairing;
}

std::optional<std::uint32_t> Pairing::leftOf(std::uint32_t right) const {
  const auto found =
      std::lower_bound(pairs.begin(), pairs.end(), right, [](const Pair& pair, std::uint32_t span) { return pair.right < span; });
  return found != pairs.end() && found->right == right ? std::optional(found->left) : std::nullopt;
}

std::optional<std::uint32_t> Pairing::rightOf(std::uint32_t left) const {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return pair.left == left; });
  return found == pairs.end() ? std::nullopt : std::optional(found->right);
}

}  // namespace gui
