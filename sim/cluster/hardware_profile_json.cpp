// Hardware profile <-> JSON ("format": "meshwright.hardware/2"); hardware.schema.json describes the same for other tools.
#include <fmt/format.h>

#include <algorithm>

#include "sim/cluster/hardware_profile.h"
#include "sim/cluster/unread_numbers_json.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"
#include "sim/units/json_reader.h"
#include "sim/units/profile_search.h"
#include "sim/units/unit_text.h"

namespace sim {
namespace {

constexpr std::string_view kHardwareFormats[] = {"meshwright.hardware/1", "meshwright.hardware/2"};
constexpr JsonReader::Range kShare = {1e-6, 1};

// {"nodes": 4, "oversubscription": 2}
PodLevel read_level(const JsonReader& reader) {
  return {.nodes = static_cast<std::int32_t>(reader.integer("nodes", std::nullopt, {1, 1e6})),
          .oversubscription = reader.number("oversubscription", std::nullopt, {1, 1000})};
}

void check_levels(const JsonReader& reader, const std::vector<PodLevel>& pods) {
  if (pods.size() < 2 || pods.size() > kPodLevels)
    reader.violate("pods", fmt::format("has {}, and 2 to {} levels are understood", counted(std::ssize(pods), "level"), kPodLevels),
                   "give each its nodes and oversubscription; of one level pod_nodes and oversubscription of the network itself");
  for (std::size_t level = 1; level < pods.size(); ++level)
    if (pods[level - 1].nodes > 0 && (pods[level].nodes <= pods[level - 1].nodes || pods[level].nodes % pods[level - 1].nodes != 0))
      reader.violate("pods", fmt::format("has pods of {} nodes in pods of {}", pods[level - 1].nodes, pods[level].nodes),
                     "give the innermost first, and of each level whole ones of that below");
}

// A fabric with one level says it by pod_nodes and oversubscription of its own.
std::vector<PodLevel> read_pods(const JsonReader& reader) {
  if (reader.has("pods")) {
    std::vector<PodLevel> pods;
    for (const JsonReader& level : reader.children("pods")) pods.push_back(read_level(level));
    check_levels(reader, pods);
    for (const char* other : {"pod_nodes", "oversubscription"})
      if (reader.has(other)) reader.violate(other, "stands beside pods, whose levels have their own", "remove one of both");
    return pods;
  }
  if (reader.has("pod_nodes") != reader.has("oversubscription"))
    reader.violate(reader.has("pod_nodes") ? "pod_nodes" : "oversubscription", "says nothing without the other of both",
                   "give the nodes of a pod, and how many share a link out of it (pod_nodes 384, oversubscription 7)");
  const auto nodes = static_cast<std::int32_t>(reader.integer("pod_nodes", 0, {0, 1e6}));
  const double oversubscription = reader.number("oversubscription", 1.0, {1, 1000});
  if (nodes == 0) return {};
  return {{.nodes = nodes, .oversubscription = oversubscription}};
}

Json pods_json(const std::vector<PodLevel>& pods) {
  Json json = Json::array();
  for (const PodLevel& level : pods) json.push_back({{"nodes", level.nodes}, {"oversubscription", level.oversubscription}});
  return json;
}

// is_derived: its bandwidth is a share of the peak, which block "kernels" gives, and a message is posted as to a neighbor.
LinkProfile read_link(const JsonReader& parent, const std::string& key, bool is_derived = false) {
  LinkProfile link;
  if (!parent.has(key)) return link;
  const JsonReader reader = parent.child(key);
  link.type = reader.text("type");
  link.latency = reader.seconds("latency", is_derived ? std::optional(Seconds{}) : std::nullopt);
  link.bandwidth = reader.bytes_per_second("bandwidth", is_derived ? std::optional(BytesPerSecond{}) : std::nullopt);
  link.lanes = static_cast<std::int32_t>(reader.integer("lanes", 1, {1, 1024}));
  link.peak_bandwidth = reader.bytes_per_second("peak_bandwidth", is_derived ? std::nullopt : std::optional(BytesPerSecond{}));
  if (key != "inter_node") return link;
  link.pods = read_pods(reader);
  link.switch_sums = reader.boolean("switch_sums", false);
  return link;
}

void derive_network(HardwareProfile& profile) {
  profile.inter_node.bandwidth = profile.inter_node.peak_bandwidth * profile.kernels->network_share;
  profile.inter_node.latency = profile.intra_node.latency;
}

void read_peaks(const JsonReader& parent, HardwareProfile& profile) {
  const JsonReader reader = parent.child("peak");
  for (std::size_t at = 0; at < kNumPrecisions; ++at)
    profile.peak[at] = reader.flops_per_second(std::string(kPrecisionNames[at]), FlopsPerSecond{});
  for (const std::string& key : reader.keys())
    if (std::find(std::begin(kPrecisionNames), std::end(kPrecisionNames), key) == std::end(kPrecisionNames))
      reader.violate(key, fmt::format("is no precision, accepted: {}", fmt::join(kPrecisionNames, ", ")), "rename it");
  const bool has_one = std::any_of(profile.peak.begin(), profile.peak.end(), [](FlopsPerSecond peak) { return peak > FlopsPerSecond{}; });
  if (parent.has("peak") && !has_one) parent.violate("peak", "gives no precision a rate", "add one, as \"fp32\": \"19.5 TFLOP/s\"");
}

MeasuredKernel read_measured(const JsonReader& reader) {
  MeasuredKernel point;
  point.kernel = static_cast<Kernel>(reader.choice("kernel", kKernelNames));
  point.precision = static_cast<Precision>(reader.choice("precision", kPrecisionNames, static_cast<std::size_t>(Precision::Fp32)));
  point.concurrent_ranks = static_cast<std::int32_t>(reader.integer("concurrent_ranks", 1, {1, 1e6}));
  point.shape = reader.integers("shape");
  point.time = reader.seconds("time");
  const std::size_t expected = shape_size(point.kernel);
  if (reader.has("kernel") && point.shape.size() != expected)
    reader.violate("shape", fmt::format("has {} numbers, expected {}", point.shape.size(), expected),
                   "see the kernel in hardware_profile.h");
  if (std::any_of(point.shape.begin(), point.shape.end(), [](std::int64_t size) { return size < 0; }))
    reader.violate("shape", "holds a negative size", "correct it");
  return point;
}

Correction read_correction(const JsonReader& reader) {
  return {reader.text("kind"), reader.number("factor", {}, {1e-6, 1e6}), reader.integer("samples", 0)};
}

std::vector<std::string> read_texts(const JsonReader& reader, const std::string& key) {
  std::vector<std::string> texts;
  for (const JsonReader& item : reader.children(key)) {
    if (item.json().is_string())
      texts.push_back(item.json().get<std::string>());
    else
      item.violate("", "is no text", "put it in quotes");
  }
  return texts;
}

// Fields of a profile that hold a number, by their name in "sources".
std::vector<std::string> number_fields(const JsonReader& reader) {
  std::vector<std::string> fields;
  for (const char* key : {"memory", "node_memory", "memory_bandwidth", "memory_efficiency", "matrix_efficiency", "attention_efficiency",
                          "kernel_overhead", "handle_workspace", "devices_per_node", "devices_per_host", "cores_per_node"})
    if (reader.has(key)) fields.push_back(key);
  if (reader.has("peak"))
    for (const std::string& precision : reader.child("peak").keys()) fields.push_back("peak." + precision);
  for (const std::string link : {"intra_node", "inter_node"})
    for (const std::string number : {"latency", "bandwidth", "lanes", "peak_bandwidth", "pod_nodes", "oversubscription", "pods"})
      if (reader.has(link) && reader.child(link).has(number)) fields.push_back(link + "." + number);
  return fields;
}

bool names_all_of(const std::string& source, const std::string& field) { return field == source || field.starts_with(source + "."); }

// "sources" is all or nothing: without it `source` speaks for every number, with it every number has its own.
std::vector<FieldSource> read_sources(const JsonReader& reader) {
  std::vector<FieldSource> sources;
  if (!reader.has("sources")) return sources;
  const JsonReader texts = reader.child("sources");
  for (const std::string& key : texts.keys()) sources.push_back({key, texts.text(key)});
  const std::vector<std::string> fields = number_fields(reader);
  for (const std::string& field : fields)
    if (std::none_of(sources.begin(), sources.end(), [&](const FieldSource& source) { return names_all_of(source.field, field); }))
      texts.violate(field, "is missing", "say where that number comes from");
  for (const FieldSource& source : sources) {
    if (source.text.empty()) texts.violate(source.field, "is empty", "say where that number comes from");
    if (std::none_of(fields.begin(), fields.end(), [&](const std::string& field) { return names_all_of(source.field, field); }))
      texts.violate(source.field, "names no number of this profile", "remove it");
  }
  return sources;
}

// Without "kernels" collectives are priced by the table of algorithms, which has none that sums on its way.
void check_sums(const JsonReader& reader, const HardwareProfile& profile) {
  if (profile.inter_node.switch_sums && !reader.has("kernels"))
    reader.violate("inter_node", "has switch_sums, and block \"kernels\" is missing: nothing says what collectives take",
                   "add it, or leave it out");
}

void check_identity(const JsonReader& reader, const HardwareProfile& profile) {
  for (const char* key : {"name", "source", "date"})
    if (reader.has(key) && reader.text(key).empty()) reader.violate(key, "is empty", "say it");
  if (reader.has("memory") && reader.json()["memory"].is_string() && parse_bytes(reader.text("memory")) == Bytes(0))
    reader.violate("memory", "is zero", "give it in GiB");
  if (profile.devices_per_node > 1 && !reader.has("intra_node"))
    reader.violate("intra_node", "is missing, with several devices a node", "add type, latency and bandwidth");
  if (profile.devices_per_host > 0 && profile.devices_per_node % profile.devices_per_host != 0)
    reader.violate(
        "devices_per_host",
        fmt::format("is {}, which does not divide the {} devices that links join", profile.devices_per_host, profile.devices_per_node),
        "give the devices of one machine");
  if (profile.kind == DeviceKind::Gpu && profile.cores_per_node > 0)
    reader.violate("cores_per_node", "is not 0: GPUs share no cores", "remove it");
  if (profile.kind == DeviceKind::Cpu && reader.has("handle_workspace"))
    reader.violate("handle_workspace", "is of GPUs: a CPU's products take none", "remove it");
}

Json link_json(const LinkProfile& link) {
  Json json = {{"type", link.type}, {"latency", to_exact_text(link.latency)}, {"bandwidth", to_exact_text(link.bandwidth)}};
  if (link.lanes > 1) json["lanes"] = link.lanes;
  if (link.pods.size() == 1) {
    json["pod_nodes"] = link.pods.front().nodes;
    json["oversubscription"] = link.pods.front().oversubscription;
  }
  if (link.pods.size() > 1) json["pods"] = pods_json(link.pods);
  if (link.switch_sums) json["switch_sums"] = true;
  if (link.peak_bandwidth > BytesPerSecond{}) json["peak_bandwidth"] = to_exact_text(link.peak_bandwidth);
  return json;
}

Json measured_json(const MeasuredKernel& point) {
  return {{"kernel", sim::at(kKernelNames, point.kernel)},
          {"precision", sim::at(kPrecisionNames, point.precision)},
          {"concurrent_ranks", point.concurrent_ranks},
          {"shape", point.shape},
          {"time", to_exact_text(point.time)}};
}

void add_lists(Json& json, const HardwareProfile& profile) {
  for (const FieldSource& source : profile.sources) json["sources"][source.field] = source.text;
  for (const MeasuredKernel& point : profile.measured) json["measured"].push_back(measured_json(point));
  for (const Correction& correction : profile.corrections)
    json["corrections"].push_back({{"kind", correction.kind}, {"factor", correction.factor}, {"samples", correction.samples}});
  if (!profile.traces.empty()) json["traces"] = profile.traces;
}

}  // namespace

HardwareProfile hardware_profile_from_json(const Json& json, const std::string& file) {
  const JsonReader reader(json, file);
  HardwareProfile profile;
  profile.format = static_cast<std::int32_t>(reader.choice("format", kHardwareFormats)) + 1;
  const bool is_strict = profile.format >= kNewestProfileFormat, derives_network = is_strict && describes_kernels(json);
  profile.name = reader.text("name");
  profile.kind = static_cast<DeviceKind>(reader.choice("kind", kDeviceKindNames));
  profile.source = reader.text("source");
  profile.date = reader.text("date");
  profile.memory = reader.bytes("memory");
  profile.node_memory = reader.bytes("node_memory", Bytes{});
  profile.memory_bandwidth = reader.bytes_per_second("memory_bandwidth");
  profile.memory_efficiency = reader.number("memory_efficiency", 1.0, kShare);
  read_peaks(reader, profile);
  profile.matrix_efficiency = reader.number("matrix_efficiency", 1.0, kShare);
  profile.attention_efficiency = reader.number("attention_efficiency", 1.0, kShare);
  profile.kernel_overhead = reader.seconds("kernel_overhead");
  profile.handle_workspace = reader.bytes("handle_workspace", kHandleWorkspace);
  profile.devices_per_node = static_cast<std::int32_t>(reader.integer("devices_per_node", {}, {1, 1e6}));
  profile.devices_per_host = static_cast<std::int32_t>(reader.integer("devices_per_host", 0, {0, 1e6}));
  profile.cores_per_node = static_cast<std::int32_t>(reader.integer("cores_per_node", 0, {0, 1e6}));
  profile.overlaps_communication = reader.boolean("overlaps_communication", true);
  profile.intra_node = read_link(reader, "intra_node");
  profile.inter_node = read_link(reader, "inter_node", derives_network);
  for (const JsonReader& point : reader.children("measured")) profile.measured.push_back(read_measured(point));
  for (const JsonReader& correction : reader.children("corrections")) profile.corrections.push_back(read_correction(correction));
  profile.traces = read_texts(reader, "traces");
  profile.sources = read_sources(reader);
  if (reader.has("power")) profile.power = device_power_from_json(json, file);
  if (reader.has("kernels")) profile.kernels = kernel_traits_from_json(json, file);
  if (derives_network) derive_network(profile);
  for (const char* key : {"fitted", "$schema"}) reader.has(key);
  if (is_strict) refuse_unread_hardware(reader);
  check_identity(reader, profile);
  check_sums(reader, profile);
  reader.refuse_unknown();
  reader.finish();
  return profile;
}

void save_hardware_profile(const HardwareProfile& profile, const std::string& path) { save_json_file(to_json(profile), path); }

Json to_json(const HardwareProfile& profile) {
  Json json = {{"format", kHardwareFormats[profile.format - 1]},
               {"name", profile.name},
               {"kind", sim::at(kDeviceKindNames, profile.kind)},
               {"source", profile.source},
               {"date", profile.date},
               {"memory", to_exact_text(profile.memory)},
               {"memory_bandwidth", to_exact_text(profile.memory_bandwidth)},
               {"memory_efficiency", profile.memory_efficiency}};
  if (profile.node_memory > Bytes(0)) json["node_memory"] = to_exact_text(profile.node_memory);
  for (std::size_t at = 0; at < kNumPrecisions; ++at)
    if (profile.peak[at] > FlopsPerSecond{}) json["peak"][std::string(kPrecisionNames[at])] = to_exact_text(profile.peak[at]);
  json["matrix_efficiency"] = profile.matrix_efficiency;
  json["attention_efficiency"] = profile.attention_efficiency;
  json["kernel_overhead"] = to_exact_text(profile.kernel_overhead);
  if (profile.kind == DeviceKind::Gpu && profile.handle_workspace != kHandleWorkspace)
    json["handle_workspace"] = to_exact_text(profile.handle_workspace);
  json["devices_per_node"] = profile.devices_per_node;
  if (profile.devices_per_host > 0) json["devices_per_host"] = profile.devices_per_host;
  if (profile.cores_per_node > 0) json["cores_per_node"] = profile.cores_per_node;
  json["overlaps_communication"] = profile.overlaps_communication;
  if (!profile.intra_node.type.empty()) json["intra_node"] = link_json(profile.intra_node);
  if (!profile.inter_node.type.empty()) json["inter_node"] = link_json(profile.inter_node);
  if (profile.power) json["power"] = to_json(*profile.power);
  if (profile.kernels) json["kernels"] = to_json(*profile.kernels);
  add_lists(json, profile);
  if (profile.format < kNewestProfileFormat) return json;
  erase_unread_hardware(json);
  if (profile.kernels && profile.kernels->drive == KernelTraits{}.drive)
    json["kernels"].erase("drive");  // files of others stay as they were
  return json;
}

HardwareProfile load_hardware_profile(const std::string& path_or_name) {
  const std::string path = find_profile(path_or_name, {"hardware"});
  return hardware_profile_from_json(load_json_file(path), path);
}

}  // namespace sim
