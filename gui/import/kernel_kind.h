// What a kernel of a GPU does, by its name: libraries name kernels after what they compute.
#pragma once

#include <string_view>

#include "gui/core/work_kind.h"

namespace gui {

WorkKind kindOfKernel(std::string_view name);

}  // namespace gui
