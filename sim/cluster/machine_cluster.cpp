#include "sim/cluster/machine_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "sim/units/input_error.h"
#include "sim/units/unit_text.h"

namespace sim {
namespace {

using Violations = std::vector<Violation>;

// One number that all who speak of it say alike.
template <class Value>
struct Agreed {
  std::optional<Value> value;
  std::string file;
};

template <class Value, class Text>
Agreed<Value> agreed(const std::vector<MachineFacts>& facts, std::optional<Value> MachineFacts::*member, std::string_view what,
                     const Text& text, Violations& violations) {
  Agreed<Value> found;
  for (const MachineFacts& one : facts) {
    const std::optional<Value>& said = one.*member;
    if (!said) continue;
    if (!found.value)
      found = {said, one.file};
    else if (*found.value != *said)
      violations.push_back({std::string(what), fmt::format("{} says {}, {} says {}", found.file, text(*found.value), one.file, text(*said)),
                            "leave out the file that is of another machine"});
  }
  return found;
}

std::string lower(std::string_view text) {
  std::string low(text);
  std::ranges::transform(low, low.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return low;
}

// "NVIDIA H100 80GB HBM3" -> "h100": a letter, then digits.
std::string model_of(std::string_view name) {
  const std::string low = lower(name);
  for (std::size_t at = 0; at + 1 < low.size(); ++at) {
    const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(low[at - 1])) == 0;
    if (!begins || std::isalpha(static_cast<unsigned char>(low[at])) == 0 || std::isdigit(static_cast<unsigned char>(low[at + 1])) == 0)
      continue;
    std::size_t end = at + 1;
    while (end < low.size() && std::isdigit(static_cast<unsigned char>(low[end])) != 0) ++end;
    return low.substr(at, end - at);
  }
  return "";
}

void judge_device(const HardwareProfile& profile, const std::vector<MachineFacts>& facts, Violations& violations) {
  for (const MachineFacts& one : facts)
    for (const std::string& name : one.device_names)
      if (const std::string model = model_of(name); !model.empty() && lower(profile.name).find(model) == std::string::npos)
        violations.push_back({"device", fmt::format("{} says {}, the hardware profile is {}", one.file, name, profile.name),
                              "give --hardware the profile of that device"});
}

void judge_links(const std::vector<MachineFacts>& facts, Violations& violations) {
  for (const MachineFacts& one : facts)
    if (one.nvlinks != one.most_nvlinks)
      violations.push_back({"links",
                            fmt::format("{} says that some devices have {} links to another and some {}; a profile holds one number",
                                        one.file, *one.nvlinks, *one.most_nvlinks),
                            "describe those devices of the node that are linked alike"});
}

class Description {
 public:
  explicit Description(const HardwareProfile& profile) : profile_(profile) {}

  void take(std::string field, std::string value, const std::string& file) {
    taken.push_back(fmt::format("{}: {} ({})", field, value, file));
    if (!profile_.sources.empty()) {
      std::erase_if(profile_.sources, [&](const FieldSource& source) { return source.field == field; });
      profile_.sources.push_back({std::move(field), fmt::format("{}, as {} says", value, file)});
    }
  }

  // As many lanes, each as fast as the profile's.
  void take_lanes(LinkProfile& link, const std::string& field, std::int32_t lanes, const std::string& file) {
    if (lanes == link.lanes || link.lanes == 0) return;
    const double share = static_cast<double>(lanes) / link.lanes;
    link.bandwidth = link.bandwidth * share, link.peak_bandwidth = link.peak_bandwidth * share;
    link.lanes = lanes;
    take(field, fmt::format("{} lanes, {}", lanes, to_text(link.bandwidth)), file);
  }

  void take_speed(LinkProfile& link, const std::string& field, BytesPerSecond peak, const std::string& file) {
    if (link.peak_bandwidth.value() <= 0 || std::abs(peak / link.peak_bandwidth - 1) < 0.01) return;
    link.bandwidth = link.bandwidth * (peak / link.peak_bandwidth);
    link.peak_bandwidth = peak;
    take(field, fmt::format("{} of {}", to_text(link.bandwidth), to_text(peak)), file);
  }

  void take_measured(const MeasuredBus& bus, const std::string& file) {
    LinkProfile& link = bus.hosts > 1 ? profile_.inter_node : profile_.intra_node;
    link.bandwidth = bus.bandwidth;
    link.peak_bandwidth = std::max(link.peak_bandwidth, bus.bandwidth);
    if (bus.hosts > 1 && profile_.kernels) profile_.kernels->network_share = bus.bandwidth / link.peak_bandwidth;
    take(bus.hosts > 1 ? "inter_node" : "intra_node", fmt::format("{}, busbw of {} ranks", to_text(bus.bandwidth), bus.ranks), file);
  }

  HardwareProfile& profile() { return profile_; }
  std::vector<std::string> taken;

 private:
  HardwareProfile profile_;
};

}  // namespace

DescribedCluster describe_cluster(const HardwareProfile& profile, const std::vector<MachineFacts>& facts, NodeCount nodes) {
  Violations violations;
  const auto count = [](std::int32_t number) { return std::to_string(number); };
  const auto rate = [](BytesPerSecond speed) { return to_text(speed); };
  const auto devices = agreed(facts, &MachineFacts::devices, "devices a node", count, violations);
  const auto nvlinks = agreed(facts, &MachineFacts::nvlinks, "links of a device", count, violations);
  const auto adapters = agreed(facts, &MachineFacts::adapters, "adapters a node", count, violations);
  const auto speed = agreed(facts, &MachineFacts::adapter_speed, "speed of an adapter", rate, violations);
  judge_device(profile, facts, violations);
  judge_links(facts, violations);
  if (nvlinks.value == 0 && profile.intra_node.type.find("nvlink") != std::string::npos)
    violations.push_back(
        {"links", fmt::format("{} shows no NVLink, the hardware profile {} has {}", nvlinks.file, profile.name, profile.intra_node.type),
         "give --hardware a profile of the card without NVLink"});
  if (!violations.empty()) throw InputError("", violations);

  Description described(profile);
  HardwareProfile& hardware = described.profile();
  if (devices.value && *devices.value != hardware.devices_per_node) {
    hardware.devices_per_node = *devices.value;
    described.take("devices_per_node", count(*devices.value), devices.file);
  }
  if (nvlinks.value && *nvlinks.value > 0) described.take_lanes(hardware.intra_node, "intra_node", *nvlinks.value, nvlinks.file);
  if (adapters.value) described.take_lanes(hardware.inter_node, "inter_node", *adapters.value, adapters.file);
  if (speed.value)
    described.take_speed(hardware.inter_node, "inter_node", *speed.value * static_cast<double>(hardware.inter_node.lanes), speed.file);
  for (const MachineFacts& one : facts)
    if (one.measured) described.take_measured(*one.measured, one.file);
  const std::int32_t all = hardware.devices_per_node * nodes.value;
  return {.cluster = {.hardware = hardware, .devices = all}, .taken = described.taken};
}

}  // namespace sim
