#include "gui/core/work_kind.h"

#include <array>
#include <cmath>

#include "sim/units/at.h"

namespace gui {
namespace {

constexpr std::array kLooks = std::to_array<WorkKindLook>({
    {WorkKind::Forward, "forward", {0xff332288}, Pattern::None},
    {WorkKind::Backward, "backward", {0xff88ccee}, Pattern::None},
    {WorkKind::Weight, "weight gradient", {0xff44aa99}, Pattern::None},
    {WorkKind::Recompute, "recompute", {0xff999933}, Pattern::Rising},
    {WorkKind::Optimizer, "optimizer", {0xff117733}, Pattern::None},
    {WorkKind::Tensor, "tensor exchange", {0xffddcc77}, Pattern::Falling},
    {WorkKind::Exchange, "token exchange", {0xffee8866}, Pattern::Dots},
    {WorkKind::Data, "data exchange", {0xffcc6677}, Pattern::Rising},
    {WorkKind::Pipeline, "pipeline exchange", {0xffaa4499}, Pattern::Lines},
    {WorkKind::World, "step summary", {0xff882255}, Pattern::Dots},
    {WorkKind::Kernel, "other kernel", {0xff555555}, Pattern::None},
    {WorkKind::Product, "product", {0xff0077bb}, Pattern::None},
    {WorkKind::Attention, "attention", {0xffee7733}, Pattern::None},
    {WorkKind::Norm, "norm", {0xff009988}, Pattern::None},
    {WorkKind::Copy, "copy", {0xffbbbbbb}, Pattern::Rising},
    {WorkKind::Host, "host", {0xffdddddd}, Pattern::None},
    {WorkKind::LessThanHalf, "less than half", {0xff364b9a}, Pattern::Falling},
    {WorkKind::Shorter, "shorter", {0xff98cae1}, Pattern::None},
    {WorkKind::Alike, "within 5 %", {0xffeaeccc}, Pattern::None},
    {WorkKind::Longer, "longer", {0xfffdb366}, Pattern::None},
    {WorkKind::MoreThanDouble, "more than double", {0xffa50026}, Pattern::Rising},
    {WorkKind::Unmatched, "without a partner", {0xff888888}, Pattern::Dots},
});

constexpr std::array<Rgb, sim::kNumMemoryCategories> kMemory = {
    {{0xff4477aa}, {0xffee6677}, {0xff228833}, {0xffccbb44}, {0xffbbbbbb}, {0xffaa3377}, {0xff66ccee}}};

std::vector<WorkKind> kindsFrom(WorkKind first, WorkKind last) {
  std::vector<WorkKind> kinds;
  for (const WorkKindLook& look : kLooks)
    if (look.kind >= first && look.kind <= last) kinds.push_back(look.kind);
  return kinds;
}

double linear(std::uint32_t channel) {
  const double share = channel / 255.0;
  return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
}

double luminance(Rgb color) {
  return 0.2126 * linear(color.value >> 16 & 255) + 0.7152 * linear(color.value >> 8 & 255) + 0.0722 * linear(color.value & 255);
}

}  // namespace

std::span<const WorkKindLook> allWorkKinds() { return kLooks; }
const WorkKindLook& lookOf(WorkKind kind) { return sim::at(kLooks, kind); }
std::vector<WorkKind> planWorkKinds() { return kindsFrom(WorkKind::Forward, WorkKind::World); }
std::vector<WorkKind> differenceWorkKinds() { return kindsFrom(WorkKind::LessThanHalf, WorkKind::Unmatched); }
std::vector<WorkKind> traceWorkKinds() {
  return {WorkKind::Product, WorkKind::Attention, WorkKind::Norm,     WorkKind::Kernel,
          WorkKind::Copy,    WorkKind::Data,      WorkKind::Pipeline, WorkKind::Host};
}

bool isCommunication(WorkKind kind) { return kind >= WorkKind::Tensor && kind <= WorkKind::World; }
bool isCompute(WorkKind kind) { return kind < WorkKind::Tensor || (kind >= WorkKind::Kernel && kind <= WorkKind::Norm); }

Rgb memoryColor(sim::MemoryCategory category) { return sim::at(kMemory, category); }

// Contrast against white is 1.05 / (l + 0.05), against black (l + 0.05) / 0.05.
Rgb readableOn(Rgb background) { return luminance(background) + 0.05 > std::sqrt(1.05 * 0.05) ? Rgb{0xff000000} : Rgb{0xffffffff}; }

WorkKind kindOf(const sim::TaskKey& key) {
  if (sim::is_communication(key.operation)) {
    switch (key.group) {
      case sim::MeshAxis::Tensor: return WorkKind::Tensor;
      case sim::MeshAxis::Context:
      case sim::MeshAxis::ContextInner:
      case sim::MeshAxis::ContextOuter:
      case sim::MeshAxis::ExpertTensor:
      case sim::MeshAxis::Expert: return WorkKind::Exchange;
      case sim::MeshAxis::Data:
      case sim::MeshAxis::ExpertData:
      case sim::MeshAxis::Reshard:
      case sim::MeshAxis::Distant:
      case sim::MeshAxis::Replica: return WorkKind::Data;
      case sim::MeshAxis::World: return WorkKind::World;
      default: return WorkKind::Pipeline;
    }
  }
  if (sim::is_host_copy(key.operation)) return WorkKind::Copy;
  switch (key.phase) {
    case sim::Phase::Forward: return WorkKind::Forward;
    case sim::Phase::Backward: return WorkKind::Backward;
    case sim::Phase::Weight: return WorkKind::Weight;
    case sim::Phase::Recompute: return WorkKind::Recompute;
    default: return WorkKind::Optimizer;
  }
}

WorkKind kindOfRatio(double ratio) {
  if (ratio < 0.5) return WorkKind::LessThanHalf;
  if (ratio < 0.95) return WorkKind::Shorter;
  if (ratio <= 1.05) return WorkKind::Alike;
  return ratio <= 2 ? WorkKind::Longer : WorkKind::MoreThanDouble;
}

std::string shortName(const sim::TaskKey& key) {
  const std::string microbatch = key.microbatch.exists() ? std::to_string(key.microbatch.value()) : "";
  if (!sim::moves_data(key.operation) && key.microbatch.exists()) {
    const char* letter = key.phase == sim::Phase::Forward    ? "F"
                         : key.phase == sim::Phase::Backward ? "B"
                         : key.phase == sim::Phase::Weight   ? "W"
                                                             : "r";
    return letter + microbatch;
  }
  return std::string(sim::at(sim::kOperationNames, key.operation)) + (microbatch.empty() ? "" : " " + microbatch);
}

}  // namespace gui
