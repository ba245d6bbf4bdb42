#include "sim/validation/parts.h"

#include <algorithm>

namespace sim {
namespace {

struct Part {
  std::string_view name, profile;
};
constexpr Part kParts[] = {
    {"P40-24GB", "p40-24gb"},
    {"P100-SXM2-16GB", "p100-16gb-sxm2"},
    {"V100-PCIe-16GB", "v100-16gb-pcie"},
    {"V100-SXM2-16GB", "v100-16gb-sxm2"},
    {"V100-SXM2-32GB", "v100-32gb-sxm2"},
    {"V100-SXM3-32GB", "v100-32gb-sxm3"},
    {"V100-SXM3-32GB-450W", "v100-32gb-sxm3-450w"},
    {"T4-16GB", "t4-16gb"},
    {"A10-24GB", "a10-24gb"},
    {"A30-24GB", "a30-24gb-pcie"},
    {"A40-48GB", "a40-48gb"},
    {"RTX-3090-24GB", "rtx-3090-24gb"},
    {"A100-PCIe-40GB", "a100-40gb-pcie"},
    {"A100-PCIe-80GB", "a100-80gb-pcie"},
    {"A100-SXM4-40GB", "a100-40gb-sxm"},
    {"A100-SXM4-80GB", "a100-80gb-sxm"},
    {"A800-80GB", "a800-80gb-sxm"},
    {"L4-24GB", "l4-24gb"},
    {"L40S-48GB", "l40s-48gb"},
    {"RTX-4090-24GB", "rtx-4090-24gb"},
    {"RX-7900-XTX-24GB", "rx-7900-xtx-24gb"},
    {"H100-PCIe-80GB", "h100-80gb-pcie"},
    {"H800-SXM5-80GB", "h800-80gb-sxm"},
    {"H100-SXM5-80GB", "h100-80gb-sxm"},
    {"H100-SXM5-96GB-HBM2e", "h100-96gb-hbm2e"},
    {"H200-SXM5-141GB", "h200-141gb-sxm"},
    {"H20-SXM5-96GB", "h20-96gb-sxm"},
    {"RTX-5090-32GB", "rtx-5090-32gb"},
    {"RTX-6000-Ada-48GB", "rtx-6000-ada-48gb"},
    {"RTX-A6000-48GB", "rtx-a6000-48gb"},
    {"RTX-PRO-6000-96GB", "rtx-pro-6000-96gb"},
    {"MI300X-192GB", "mi300x-192gb"},
    {"MI325X-256GB", "mi325x-256gb"},
    {"MI350X-288GB", "mi350x-288gb"},
    {"MI355X-288GB", "mi355x-288gb"},
    {"B200-SXM-180GB", "b200-180gb-sxm"},
    {"B200-SXM-180GB-750W", "b200-180gb-sxm-750w"},
    {"GB200-186GB", "gb200-186gb"},
    {"B300-SXM-288GB", "b300-288gb-sxm"},
    {"GB300-288GB", "gb300-288gb"},
};

}  // namespace

std::string profile_of_part(std::string_view part) {
  const auto* found = std::find_if(std::begin(kParts), std::end(kParts), [&](const Part& known) { return known.name == part; });
  return found == std::end(kParts) ? std::string() : std::string(found->profile);
}

std::string known_parts() {
  std::string names;
  for (const Part& part : kParts) names += (names.empty() ? "" : ", ") + std::string(part.name);
  return names;
}

}  // namespace sim
