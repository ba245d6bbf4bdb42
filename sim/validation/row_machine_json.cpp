// Block `hardware` of a row -> a hardware profile.
#include <algorithm>

#include "sim/clock/kernel_setting.h"
#include "sim/cluster/cluster.h"
#include "sim/units/json_reader.h"
#include "sim/validation/parts.h"
#include "sim/validation/row_blocks.h"

namespace sim {
namespace {

void read_links(const FieldReader& at, HardwareProfile& profile) {
  const double stated = at.has("intra_node") ? at.reader().child("intra_node").number("GBps_per_gpu", 0.0, {0, 1e5}) : 0;  // both ways
  LinkProfile& inside = profile.intra_node;
  if (stated > 0 && inside.peak_bandwidth.value() > 0)
    inside.bandwidth = inside.bandwidth * (stated * 1e9 / 2 / inside.peak_bandwidth.value());
}

// Links may join machines: whole ones of them.
void read_size(std::int32_t per_node, std::int32_t joined, HardwareProfile& profile) {
  const bool joins = joined > per_node;
  profile.devices_per_node = joins ? joined / per_node * per_node : per_node;
  profile.devices_per_host = joins ? per_node : 0;
}

void read_network(const FieldReader& at, HardwareProfile& profile) {
  if (at.has("inter_node")) {
    const double gbits = at.reader().child("inter_node").number("Gbps_per_node", 0.0, {0, 1e6});
    const double machines = profile.devices_per_host > 0 ? real(profile.devices_per_node) / profile.devices_per_host : 1;
    if (gbits > 0) profile.inter_node.peak_bandwidth = BytesPerSecond(gbits * 1e9 / 8 * machines);
  }
  if (profile.inter_node.type.empty())
    profile.inter_node = {.type = "network", .latency = Seconds(1e-6), .bandwidth = BytesPerSecond(1e10)};
}

// {"ratio": 7, "above_gpus": 3072}
void read_pods(const FieldReader& at, HardwareProfile& profile) {
  if (!at.has("inter_node")) return;
  const JsonReader network = at.reader().child("inter_node");
  if (!network.has("oversubscription") || network.json()["oversubscription"].is_null()) return;
  const JsonReader shared = network.child("oversubscription");
  const auto nodes = static_cast<std::int32_t>(shared.integer("above_gpus", 0, {0, 1 << 20}) / profile.devices_per_node);
  if (nodes > 0) profile.inter_node.pods = {{.nodes = nodes, .oversubscription = shared.number("ratio", 1.0, {1, 1000})}};
}

}  // namespace

RowMachine read_machine(const FieldReader& at, const RowProfiles& profiles) {
  RowMachine machine;
  const std::string part = at.reader().text("gpu");
  machine.part = profile_of_part(part);
  machine.gpus = at.required("total_gpus");
  const std::int64_t per_node = std::min(machine.gpus, at.size("gpus_per_node", 8));
  if (machine.part.empty()) {
    at.reader().violate("gpu", "is \"" + part + "\", accepted: " + known_parts(), "add a profile for it");
    return machine;
  }
  const Device& device = profiles.part(machine.part);
  machine.profile = device.profile;
  machine.profile.kernels = device.kernels;
  const std::int64_t joined = at.has("intra_node") ? at.reader().child("intra_node").integer("domain_gpus", 0, {0, 1e5}) : 0;
  read_size(static_cast<std::int32_t>(std::min<std::int64_t>(per_node, 1 << 20)), static_cast<std::int32_t>(joined), machine.profile);
  read_links(at, machine.profile);
  read_network(at, machine.profile);
  deal_out(machine.profile, static_cast<std::int32_t>(std::min<std::int64_t>(machine.gpus, 1 << 30)));
  read_pods(at, machine.profile);
  return machine;
}

}  // namespace sim
