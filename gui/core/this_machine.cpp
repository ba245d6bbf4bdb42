#include "gui/core/this_machine.h"
#include "sim/units/counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

namespace gui {

Machine thisMachine() {
  Machine machine{.cores = static_cast<std::int32_t>(std::max(1u, std::thread::hardware_concurrency()))};
  while (std::filesystem::exists(fmt::format("/dev/nvidia{}", machine.gpus))) ++machine.gpus;
  return machine;
}

std::optional<std::string> whyNotHere(const sim::ParallelPlan& plan, const Machine& machine) {
  constexpr std::int32_t kRanksACore = 4;
  const std::int32_t ranks = plan.mesh.ranks(), most = std::max(machine.gpus, kRanksACore * machine.cores);
  if (ranks <= most) return std::nullopt;
  return fmt::format("{} ranks are more than this machine can run ({}, {}): take the script to one that can", ranks,
                     sim::counted(machine.gpus, "GPU"), sim::counted(machine.cores, "core"));
}

}  // namespace gui
