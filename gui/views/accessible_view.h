// How a screen reader meets a picture: a timeline as a list, any other as a chart; what is chosen in it is its value, and its one child.
#pragma once

namespace gui {

void installAccessibleViews();

}  // namespace gui
