// What a kernel of a GPU or an operator of PyTorch does, by its name: libraries name them after what they compute.
#pragma once

#include <string_view>

#include "gui/core/work_kind.h"

namespace gui {

WorkKind kindOfKernel(std::string_view name);
WorkKind kindOfOperator(std::string_view name);  // "aten::addmm"; Host: it computes nothing by itself

}  // namespace gui
