// Journey 9: a view as PNG, SVG or PDF through its own paint code, a table as CSV, timelines and memory as traces. Throws sim::InputError when the disk refuses.
#pragma once

#include <QString>

#include <vector>

#include "gui/core/compared_steps.h"
#include "gui/models/table_item_model.h"

namespace gui {

class View;

struct Caption {
  QString title{};         // above the picture; empty: none
  View* legend = nullptr;  // below it
};
void savePicture(View& view, const QString& path, const Caption& caption = {});  // by the name's ending: .png (twice the size), .svg, .pdf
void saveTable(const Table& table, const QString& path);
// Steps for other viewers, in one file, with what links carry: Perfetto's format or Chrome's, by the name's ending. On any thread.
void saveTimelines(const std::vector<ComparedSide>& steps, const QString& path, const sim::Told& told = {});
// The planned memory, block by block, as PyTorch's memory snapshot. On any thread.
void saveMemory(const SimulatedPlan& plan, const QString& path, const sim::Told& told = {});

}  // namespace gui
