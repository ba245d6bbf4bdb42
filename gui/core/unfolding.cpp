#include "gui/core/unfolding.h"

#include <algorithm>

#include "gui/core/device_part.h"
#include "sim/units/at.h"

namespace gui {
namespace {

// Every device of the timeline, as it is.
std::vector<ShownDevice> sourcesOf(const sim::Timeline& timeline) {
  std::vector<ShownDevice> sources;
  for (sim::DeviceId device(0); device.position() < timeline.devices.size(); ++device) {
    const auto size = static_cast<std::uint32_t>(partOf(timeline.spans, device).size());
    const std::uint32_t first = sources.empty() ? 0 : sources.back().first + sources.back().size;
    sources.push_back({timeline.devices[device.position()], device, first, first, size});
  }
  return sources;
}

}  // namespace

Unfolding::Unfolding(const sim::Timeline& timeline) : devices_(sourcesOf(timeline)), sources_(devices_) {}

Unfolding Unfolding::everyRank(const sim::Timeline& folded, const sim::Fold& fold, const sim::DeviceMesh& mesh) {
  Unfolding unfolding;
  const std::vector<ShownDevice> classes = sourcesOf(folded);
  unfolding.sources_ = classes;
  for (sim::Rank rank(0); rank.value() < mesh.ranks(); ++rank) {
    ShownDevice shown = classes[sim::device_of(fold, mesh, rank).position()];
    const bool represents = shown.device.representative == rank;
    shown.device.representative = rank;
    shown.device.multiplicity = 1;
    shown.first = unfolding.numSpans();
    unfolding.devices_.push_back(shown);
    if (represents) unfolding.sources_[shown.source.position()] = shown;
  }
  return unfolding;
}

std::size_t Unfolding::deviceOf(std::uint32_t number) const {
  const auto behind = std::upper_bound(devices_.begin(), devices_.end(), number,
                                       [](std::uint32_t n, const ShownDevice& device) { return n < device.first; });
  return sim::position_in(devices_, behind) - 1;
}

std::uint32_t Unfolding::positionOf(std::uint32_t number) const {
  const ShownDevice& device = devices_[deviceOf(number)];
  return device.first_span + number - device.first;
}

std::uint32_t Unfolding::numberOf(std::uint32_t position) const {
  const auto behind = std::upper_bound(sources_.begin(), sources_.end(), position,
                                       [](std::uint32_t at, const ShownDevice& device) { return at < device.first_span; });
  const ShownDevice& device = *(behind - 1);
  return device.first + position - device.first_span;
}

std::vector<std::uint32_t> Unfolding::numbersOf(const std::vector<std::uint32_t>& positions) const {
  std::vector<std::uint32_t> numbers;
  for (const ShownDevice& device : devices_) {
    const auto first = std::lower_bound(positions.begin(), positions.end(), device.first_span);
    for (auto at = first; at != positions.end() && *at < device.first_span + device.size; ++at)
      numbers.push_back(device.first + *at - device.first_span);
  }
  return numbers;
}

sim::Timeline Unfolding::unfolded(const sim::Timeline& folded) const {
  sim::Timeline timeline;
  for (const ShownDevice& shown : devices_) {
    const sim::DeviceId device(static_cast<std::int32_t>(timeline.devices.size()));
    timeline.devices.push_back(shown.device);
    for (sim::Span span : partOf(folded.spans, shown.source)) {
      span.device = device;
      timeline.spans.push_back(span);
    }
    for (sim::MemorySample sample : partOf(folded.memory, shown.source)) {
      sample.device = device;
      timeline.memory.push_back(sample);
    }
  }
  return timeline;
}

}  // namespace gui
