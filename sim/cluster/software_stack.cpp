#include "sim/cluster/software_stack.h"

#include <algorithm>

#include "sim/units/input_error.h"

namespace sim {

const SoftwareStack& worker_software() {
  static const SoftwareStack worker = [] {
    SoftwareStack stack;
    stack.fused_norm = stack.fused_activation = stack.fused_residual = stack.fused_loss = stack.fused_accumulation = true;
    stack.accumulate_bytes = 2;
    stack.fused_loss_bytes = kBytesOfLossInPlace;
    stack.keeps_gathered = stack.repeats_keys = true;
    stack.keeps_masks = false;
    return stack;
  }();
  return worker;
}

DeviceAllocator device_allocator(const SoftwareStack& stack) {
  const auto* found = std::ranges::find(kDeviceAllocatorNames, stack.allocator);
  return static_cast<DeviceAllocator>(found - std::begin(kDeviceAllocatorNames));
}

UnitCopying unit_copying(const SoftwareStack& stack) {
  const auto* found = std::ranges::find(kUnitCopyingNames, stack.unit_copies);
  return static_cast<UnitCopying>(found - std::begin(kUnitCopyingNames));
}

AttentionKernel attention_kernel(const SoftwareStack& stack, const std::string& stated) {
  std::string name = stated.empty() ? stack.attention : stated;
  if (name == "flash") name = stack.flash;
  if (name == "no_flash") name = stack.fused_softmax ? "fused_softmax" : "unfused";
  const auto* found = std::find(std::begin(kAttentionKernelNames), std::end(kAttentionKernelNames), name);
  return found == std::end(kAttentionKernelNames) ? AttentionKernel::Flash2
                                                  : static_cast<AttentionKernel>(found - std::begin(kAttentionKernelNames));
}

const SoftwareStack& SoftwareCatalog::named(const std::string& name) const {
  const auto found = std::find_if(stacks_.begin(), stacks_.end(), [&](const SoftwareStack& stack) { return stack.name == name; });
  if (found == stacks_.end()) throw InputError(name, {{"", "is no software profile", "add it to profiles/software"}});
  return *found;
}

const SoftwareStack& SoftwareCatalog::find(const FrameworkVersion& version) const {
  const SoftwareStack* best = nullptr;
  for (const SoftwareStack& stack : stacks_) {
    const bool speaks_of_it = std::find(stack.frameworks.begin(), stack.frameworks.end(), version.framework) != stack.frameworks.end();
    if (speaks_of_it && stack.from_year <= version.year && (!best || stack.from_year > best->from_year)) best = &stack;
  }
  return best ? *best : named("plain");
}

}  // namespace sim
