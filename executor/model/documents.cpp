#include "executor/model/documents.h"

#include <algorithm>

namespace executor {

DocumentRows Documents::at(std::int64_t row) const {
  const auto behind = std::ranges::upper_bound(*rows_, row, {}, &DocumentRows::begin);
  return *std::prev(behind);
}

}  // namespace executor
