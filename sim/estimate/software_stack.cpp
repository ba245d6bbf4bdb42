#include "sim/estimate/software_stack.h"

#include <algorithm>

#include "sim/units/input_error.h"

namespace sim {
namespace {

constexpr double kMaskedShare = 0.16;  // 15 % of the tokens are masked (Devlin et al. 2019)

}  // namespace

double SoftwareStack::tokens_with_loss(NetworkKind kind) const { return kind == NetworkKind::Encoder && masked_loss ? kMaskedShare : 1; }

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
