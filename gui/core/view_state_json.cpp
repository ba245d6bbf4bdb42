#include "gui/core/view_state.h"
#include "sim/units/at.h"
#include "sim/units/json_reader.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

constexpr const char* kFormat = "meshwright.view/1";

std::string exactText(sim::SimTime time) { return sim::to_exact_text(sim::to_seconds(time)); }
sim::SimTime timeOf(const sim::JsonReader& reader, const char* key) { return sim::to_sim_time(reader.seconds(key)); }

}  // namespace

sim::Json toJson(const ViewState& state) {
  sim::Json marks = sim::Json::array();
  for (const Mark& mark : state.marks) marks.push_back({{"time", exactText(mark.time)}, {"text", mark.text}});
  return {{"format", kFormat},
          {"shown", {{"begin", exactText(state.shown.begin)}, {"end", exactText(state.shown.end)}}},
          {"group_by", std::string(sim::at(kGroupByNames, state.group))},
          {"pinned", state.pinned},
          {"marks", marks},
          {"search", state.search},
          {"collapsed", state.collapsed}};
}

ViewState viewFromJson(const sim::Json& json, const std::string& file) {
  const sim::JsonReader reader(json, file);
  if (reader.text("format") != kFormat)
    reader.violate("format", "is none that this version reads", std::string("open a file of format ") + kFormat);
  ViewState state;
  const sim::JsonReader shown = reader.child("shown");
  state.shown = {timeOf(shown, "begin"), timeOf(shown, "end")};
  state.group = static_cast<GroupBy>(reader.choice("group_by", kGroupByNames, 0));
  for (const std::int64_t rank : reader.integers("pinned")) state.pinned.insert(static_cast<std::int32_t>(rank));
  for (const sim::JsonReader& mark : reader.children("marks")) state.marks.push_back({timeOf(mark, "time"), mark.text("text")});
  state.search = reader.text("search", "");
  for (const std::int64_t place : reader.integers("collapsed")) state.collapsed.insert(static_cast<std::int32_t>(place));
  reader.finish();
  return state;
}

void saveView(const ViewState& state, const std::string& path) { sim::save_json_file(toJson(state), path); }
ViewState loadView(const std::string& path) { return viewFromJson(sim::load_json_file(path), path); }

}  // namespace gui
