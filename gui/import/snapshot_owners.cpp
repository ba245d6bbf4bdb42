#include "gui/import/snapshot_owners.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace gui {
namespace {

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The program's own line, and that of a plan ("layer:5"); not PyTorch's.
bool namesAnOwner(std::string_view file) {
  return (file.ends_with(".py") && !holds(file, "/torch/")) || file == "layer" || file == "stage";
}

std::optional<AllocatedIn> partOfStep(std::string_view file, std::string_view function) {
  if (holds(file, "/optim/") || holds(function, "optimizer")) return AllocatedIn::Optimizer;
  if (holds(function, "backward") || holds(function, "autograd::")) return AllocatedIn::Backward;
  if (function == "forward" || holds(function, "_call_impl")) return AllocatedIn::Forward;
  return std::nullopt;
}

}  // namespace

SnapshotOwners::SnapshotOwners(const Pickle& pickle, std::vector<std::string>& names) : pickle_(pickle), names_(names) {
  number("(unknown)");
}

SnapshotOwner SnapshotOwners::of(PickleId frames) {
  const auto [entry, is_new] = known_.try_emplace(frames.value);
  if (is_new) entry->second = judge(frames);
  return entry->second;
}

std::uint32_t SnapshotOwners::number(const std::string& name) {
  const auto [entry, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return entry->second;
}

// The innermost line tells who; the first function on the way out that says so tells in which part of the step.
SnapshotOwner SnapshotOwners::judge(PickleId frames) {
  SnapshotOwner owner;
  std::optional<AllocatedIn> part;
  for (std::size_t at = 0; at < pickle_.size(frames) && !(part && owner.number != 0); ++at) {
    const PickleId frame = pickle_.item(frames, at);
    const std::string_view function = pickle_.text(pickle_.member(frame, "name")), file = pickle_.text(pickle_.member(frame, "filename"));
    if (owner.number == 0 && namesAnOwner(file))
      owner.number =
          number(fmt::format("{}:{} {}", file.substr(file.rfind('/') + 1), pickle_.integer(pickle_.member(frame, "line")), function));
    if (!part) part = partOfStep(file, function);
  }
  owner.part = part.value_or(AllocatedIn::Elsewhere);
  return owner;
}

}  // namespace gui
