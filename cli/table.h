// Rows of cells -> aligned text.
#pragma once

#include <string>
#include <vector>

namespace cli {

// The first row is the header. A column is right-aligned when all its cells below the header begin like numbers; the last one never
// is, so that reasons may be long. No trailing blanks.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace cli
