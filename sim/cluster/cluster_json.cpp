// Cluster <-> JSON ("format": "meshwright.cluster/1"): hardware, in full or by its name, and how many devices.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/cluster/cluster.h"
#include "sim/cluster/device_groups.h"
#include "sim/units/json_reader.h"
#include "sim/units/profile_search.h"

namespace sim {
namespace {

constexpr std::string_view kClusterFormat = "meshwright.cluster/1";
constexpr JsonReader::Range kDevices = {1, 1 << 20}, kShares = {1, 1 << 20};

bool is_cluster(const Json& json) {
  const auto format = json.is_object() ? json.find("format") : json.end();
  return format != json.end() && format->is_string() && format->get_ref<const std::string&>().starts_with("meshwright.cluster/");
}

HardwareProfile read_hardware(const JsonReader& reader, const std::string& file) {
  if (reader.has("hardware") && reader.json()["hardware"].is_string()) return load_hardware_profile(reader.text("hardware"));
  const JsonReader hardware = reader.child("hardware");
  reader.finish();
  return hardware_profile_from_json(hardware.json(), file + ": /hardware");
}

SoftwareStack read_software(const JsonReader& reader, const std::string& file) {
  if (!reader.has("software")) return {};
  if (reader.json()["software"].is_string()) return load_software(reader.text("software"));
  const JsonReader software = reader.child("software");
  reader.finish();
  return software_stack_from_json(software.json(), file + ": /software");
}

// "groups" in place of "hardware" and "devices".
std::vector<DeviceGroup> read_groups(const JsonReader& reader, const std::string& file) {
  std::vector<DeviceGroup> groups;
  for (const JsonReader& one : reader.children("groups")) {
    const auto devices = static_cast<std::int32_t>(one.integer("devices", {}, kDevices));
    const std::int64_t share = one.integer("share", 0, kShares);
    one.has("hardware");
    one.refuse_unknown();
    groups.push_back({read_hardware(one, file), devices, share});
  }
  for (const char* key : {"hardware", "devices"})
    if (reader.has(key)) reader.violate(key, "stands beside groups, which say it", "remove the one or the others");
  if (groups.empty()) reader.violate("groups", "is empty", "name the hardware and the devices of each");
  const auto with_share = std::ranges::count_if(groups, [](const DeviceGroup& group) { return group.share > 0; });
  if (with_share != 0 && with_share != std::ssize(groups))
    reader.violate("groups", "say a share of some and not of others", "give each its share, or none");
  reader.finish();
  if (const auto problem = why_not_together(groups))
    throw InputError(file, {{"/groups", *problem, "plan for one of them, or give each as whole nodes of one size"}});
  return groups;
}

Cluster cluster_of_groups(const JsonReader& reader, const std::string& file) {
  const std::vector<DeviceGroup> groups = read_groups(reader, file);
  Cluster cluster{least_of(groups), 0, read_software(reader, file)};
  for (const DeviceGroup& group : groups) cluster.devices += group.devices;
  if (groups.front().share > 0) cluster.groups = groups;
  return cluster;
}

// Several nodes need a link between them.
void check_links(const Cluster& cluster, const std::string& file) {
  if (cluster.nodes() > 1 && cluster.hardware.inter_node.type.empty())
    throw InputError(file, {{"/inter_node",
                             fmt::format("is missing, and {} devices need {} nodes of {}", cluster.devices, cluster.nodes(),
                                         cluster.hardware.devices_per_node),
                             "add it to the hardware profile, or take fewer devices"}});
}

Cluster cluster_of(HardwareProfile hardware, DeviceCount devices, const std::string& file) {
  if (devices.value == 0)
    throw InputError(file, {{"", "is a hardware profile, which does not say how many devices there are",
                             fmt::format("add --devices N (a node has {})", hardware.devices_per_node)}});
  deal_out(hardware, devices.value);
  Cluster cluster{std::move(hardware), devices.value, {}};
  check_links(cluster, file);
  return cluster;
}

// On devices whose kernels are described it matters what issues them; nothing said: our own worker.
Cluster with_software(Cluster cluster) {
  if (cluster.hardware.kernels && cluster.software.name.empty()) cluster.software = load_software("meshwright");
  return cluster;
}

void take_part(Cluster& cluster, DeviceCount devices, const std::string& file) {
  if (devices.value > cluster.devices)
    throw InputError(file, {{"/devices", fmt::format("is {}, and {} are asked for", cluster.devices, devices.value), "ask for fewer"}});
  if (devices.value > 0) cluster.devices = devices.value;
}

}  // namespace

Cluster cluster_from_json(const Json& json, const std::string& file) {
  const JsonReader reader(json, file);
  reader.choice("format", std::span(&kClusterFormat, 1));
  for (const char* key : {"hardware", "devices", "groups", "software"}) reader.has(key);
  const auto devices = reader.has("groups") ? 0 : static_cast<std::int32_t>(reader.integer("devices", {}, kDevices));
  reader.refuse_unknown();
  reader.finish();
  Cluster cluster =
      reader.has("groups") ? cluster_of_groups(reader, file) : Cluster{read_hardware(reader, file), devices, read_software(reader, file)};
  check_links(cluster, file);
  return cluster;
}

Json to_json(const Cluster& cluster) {
  Json json = {{"format", kClusterFormat}};
  for (const DeviceGroup& group : cluster.groups)
    json["groups"].push_back({{"hardware", to_json(group.hardware)}, {"devices", group.devices}, {"share", group.share}});
  if (cluster.groups.empty()) json["devices"] = cluster.devices, json["hardware"] = to_json(cluster.hardware);
  if (!cluster.software.name.empty()) json["software"] = to_json(cluster.software);
  return json;
}

bool says_devices(const std::string& path_or_name) {
  return is_cluster(load_json_file(find_profile(path_or_name, {"clusters", "hardware"})));
}

Cluster load_cluster(const std::string& path_or_name, DeviceCount devices) {
  if (devices.value < 0 || devices.value > kDevices.high)
    throw InputError("--devices", {{"", fmt::format("is {}, expected 1 to {}", devices.value, kDevices.high),
                                    "give the number of devices that train together, all nodes counted"}});
  const std::string path = find_profile(path_or_name, {"clusters", "hardware"});
  const Json json = load_json_file(path);
  if (!is_cluster(json)) return with_software(cluster_of(hardware_profile_from_json(json, path), devices, path));
  Cluster cluster = cluster_from_json(json, path);
  if (json.contains("groups") && devices.value > 0 && devices.value != cluster.devices)
    throw InputError(path, {{"/groups", fmt::format("are {} devices, and {} are asked for", cluster.devices, devices.value),
                             "say in the file how many of each group"}});
  take_part(cluster, devices, path);
  return with_software(std::move(cluster));
}

}  // namespace sim
