// Journey 9: a view as PNG, SVG or PDF through its own paint code, a table as CSV. Throws sim::InputError when the disk refuses.
#pragma once

#include <QString>

#include "gui/models/table_item_model.h"

namespace gui {

class View;

void savePicture(View& view, const QString& path);  // by the name's ending: .png (twice the size), .svg, .pdf
void saveTable(const Table& table, const QString& path);

}  // namespace gui
