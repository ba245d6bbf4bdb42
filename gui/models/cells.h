// Values of the simulator as cells: three digits to read, the exact value to sort by.
#pragma once

#include <optional>
#include <string_view>

#include "gui/models/table_item_model.h"
#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace gui {

QString textOf(std::string_view utf8);
Cell timeCell(sim::SimTime time);
Cell timeCell(sim::Seconds time);
Cell bytesCell(sim::Bytes bytes);
Cell shareCell(double share);        // "8.3 %"
Cell signedShareCell(double share);  // "+8.3 %"
Cell countCell(std::int64_t count);
// "1 match", "12 matches"; many: with a place %L1.
QString countText(std::int64_t count, const QString& one, const QString& many);
QString waitText(sim::Seconds time);  // "2 h 05 min", "3 min 20 s", "12 s": how long somebody waits

QString leftText(std::optional<sim::Seconds> left);  // ", about 12 s left"; empty: nobody can tell yet

}  // namespace gui
