// Power of a device <-> JSON: {"load": "700 W", "idle": "145 W", "source": "..."}.
#include "sim/cluster/device_power.h"
#include "sim/cluster/profile_fields_json.h"
#include "sim/units/json_reader.h"
#include "sim/units/unit_text.h"

namespace sim {

Joules energy(const DevicePower& power, Seconds step, Seconds computing) {
  return Joules(power.load.value() * computing.count() + power.idle.value() * (step - computing).count());
}

DevicePower device_power_from_json(const Json& profile, const std::string& file) {
  const JsonReader reader(profile, file);
  const JsonReader block = reader.child("power");
  DevicePower power{.load = block.watts("load"), .idle = block.watts("idle"), .source = required_source(block)};
  if (block.has("load") && block.has("idle") && power.idle > power.load)
    block.violate("idle", "is above load", "give what a device draws that holds memory and runs nothing");
  block.refuse_unknown();
  block.finish();
  return power;
}

Json to_json(const DevicePower& power) {
  return {{"load", to_exact_text(power.load)}, {"idle", to_exact_text(power.idle)}, {"source", power.source}};
}

}  // namespace sim
