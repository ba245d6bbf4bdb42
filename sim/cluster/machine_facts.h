// What the tools of a machine say of one of its nodes: how many devices, by what they are linked, what a network adapter carries, what was measured over them.
// Read from `nvidia-smi topo -m`, NCCL's topology (NCCL_TOPO_DUMP_FILE), `nccl-tests`, `ibstat`, `lspci`. Judges nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/quantity.h"

namespace sim {

struct MeasuredBus {  // nccl-tests, the largest message: bytes that cross each link of a ring in a second
  BytesPerSecond bandwidth{};
  std::int32_t ranks = 0, hosts = 1;
};

struct MachineFacts {
  std::string file;
  std::string_view tool;  // that wrote it
  std::optional<std::int32_t> devices;
  std::vector<std::string> device_names;  // as the driver calls them
  std::vector<std::string> ways;          // between two devices, each once: "NV18", "PIX", "SYS"
  std::optional<std::int32_t> nvlinks;    // of a device to the others: the fewest and the most, where they differ
  std::optional<std::int32_t> most_nvlinks;
  std::optional<std::int32_t> adapters;         // that the network is reached by
  std::optional<BytesPerSecond> adapter_speed;  // of one
  std::optional<MeasuredBus> measured;
};

// The tool is known by what the file holds. Throws InputError: none of them, or nothing in it that says anything.
MachineFacts read_machine_facts(const std::string& path);

}  // namespace sim
