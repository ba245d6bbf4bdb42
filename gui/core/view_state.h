// How a person looks at a timeline: what is shown, in which order the ranks stand, what is pinned, searched and noted. Kept over edits of the
// plan, apart from notes, which are of one, and as a file ("meshwright.view/1").
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/core/time_axis.h"
#include "sim/plan/device_mesh.h"
#include "sim/task_graph/task_graph.h"
#include "sim/units/json_fwd.h"

namespace gui {

struct Mark {
  sim::SimTime time{};
  std::string text;
  bool operator==(const Mark&) const = default;
};

using NotesByPlan = std::map<std::string, std::vector<Mark>>;  // by plan_hash()

enum class GroupBy : std::uint8_t { Rank, Stage, Data, Tensor };
inline constexpr std::string_view kGroupByNames[] = {"rank", "stage", "data", "tensor"};

struct ViewState {
  TimeRange shown{};  // empty: everything
  GroupBy group = GroupBy::Rank;
  std::set<std::int32_t> pinned{};  // first ranks of devices
  std::vector<Mark> marks{};        // by time
  std::string search{};
  std::set<std::int32_t> collapsed{};  // groups that are one line: places on the axis
  bool operator==(const ViewState&) const = default;
};

// Devices from top to bottom: the pinned ones, then by their place on the axis, then by rank.
std::vector<std::size_t> deviceOrder(std::span<const sim::GraphDevice> devices, const sim::DeviceMesh& mesh, const ViewState& state);

// Devices of one place on the axis, pinned ones apart; ordered by rank: of one stage.
struct DeviceGroup {
  std::int32_t place = 0;
  std::vector<std::size_t> devices;  // as ordered
};
std::vector<DeviceGroup> groupsOf(std::span<const std::size_t> order, std::span<const sim::GraphDevice> devices,
                                  const sim::DeviceMesh& mesh, const ViewState& state);

sim::Json toJson(const ViewState& state);
ViewState viewFromJson(const sim::Json& json, const std::string& file);  // throws sim::InputError
void saveView(const ViewState& state, const std::string& path);          // throws sim::InputError
ViewState loadView(const std::string& path);                             // throws sim::InputError

}  // namespace gui
