#include "gui/core/comparison_errors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/units/at.h"

namespace gui {
namespace {

constexpr int kBelow = 16, kPerDouble = 8;  // bins below the one around 1; bins from a ratio to its double

using Of = ErrorGroup::Of;
using NameOf = std::optional<std::string> (*)(const sim::Span& span, const sim::GraphDevice& device);

std::optional<std::string> stageName(const sim::Span& span, const sim::GraphDevice& device) {
  if (sim::is_communication(span.key.operation)) return std::nullopt;
  return "stage " + std::to_string(device.stage.value());
}
std::optional<std::string> kindName(const sim::Span& span, const sim::GraphDevice&) { return sim::kind_text(span.key); }
std::optional<std::string> collectiveName(const sim::Span& span, const sim::GraphDevice&) {
  if (!sim::is_communication(span.key.operation)) return std::nullopt;
  const std::string kind = sim::kind_text(span.key);
  return kind.substr(kind.find('.') + 1);
}

constexpr struct {
  Of of;
  NameOf name;
} kGroupings[] = {{Of::Stage, stageName}, {Of::Kind, kindName}, {Of::Collective, collectiveName}};

struct Sum {
  sim::SimTime time{};
  std::int64_t samples = 0;
  std::set<sim::DeviceId> devices;
  sim::Seconds mean() const { return devices.empty() ? sim::Seconds(0) : sim::to_seconds(time) / static_cast<double>(devices.size()); }
};

std::map<std::string, Sum> sumsOf(const sim::Timeline& timeline, NameOf name_of) {
  std::map<std::string, Sum> sums;
  for (const sim::Span& span : timeline.spans) {
    const std::optional<std::string> name = name_of(span, timeline.devices[span.device.position()]);
    if (!name) continue;
    Sum& sum = sums[*name];
    sum.time += span.end - span.start;
    sum.devices.insert(span.device);
    ++sum.samples;
  }
  return sums;
}

std::vector<ErrorGroup> groupsBy(const ComparedSteps& steps, Of of, NameOf name_of) {
  std::map<std::string, Sum> left = sumsOf(steps.left.timeline(), name_of), right = sumsOf(steps.right.timeline(), name_of);
  for (const auto& [name, sum] : left) right.try_emplace(name);
  std::vector<ErrorGroup> groups;
  for (const auto& [name, sum] : right)
    groups.push_back({of, {.name = name, .samples = sum.samples, .simulated = left[name].mean(), .measured = sum.mean()}});
  if (of != Of::Stage)
    std::stable_sort(groups.begin(), groups.end(),
                     [](const ErrorGroup& a, const ErrorGroup& b) { return a.row.measured > b.row.measured; });
  return groups;
}

}  // namespace

int binOfRatio(double ratio) {
  return static_cast<int>(std::clamp(std::round(kPerDouble * std::log2(std::max(1e-9, ratio))) + kBelow, 0.0, 2.0 * kBelow));
}

std::vector<RatioBin> ratioHistogram(const ComparedSteps& steps) {
  std::vector<RatioBin> bins;
  for (int at = -kBelow; at <= kBelow; ++at)
    bins.push_back({std::exp2((at - 0.5) / kPerDouble), std::exp2((at + 0.5) / kPerDouble), 0, {}});
  for (const Pair& pair : steps.pairing.pairs) {
    RatioBin& bin = sim::at(bins, binOfRatio(ratioOf(steps, pair)));
    ++bin.pairs;
    bin.time += steps.right.timeline().spans[pair.right].end - steps.right.timeline().spans[pair.right].start;
  }
  return bins;
}

std::vector<ErrorGroup> errorGroups(const ComparedSteps& steps) {
  std::vector<ErrorGroup> groups;
  const sim::Comparison* whole = steps.wholeRun();
  groups.push_back({Of::Step, whole ? whole->step : sim::ErrorRow{"step", 1, steps.left.length(), steps.right.length()}});
  for (const auto& [of, name_of] : kGroupings) {
    if (whole && of != Of::Collective) {
      for (const sim::ErrorRow& row : of == Of::Stage ? whole->stages : whole->kinds) groups.push_back({of, row});
      continue;
    }
    for (ErrorGroup& group : groupsBy(steps, of, name_of)) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace gui
