// Documents of a row in an order of which context ranks take equal pieces, rank after rank (context_by_document), so that as few ranks as have room
// share a document, and all have about the same work.
//
//   a row      a a b c c c c c c d d d e e e e      C = 2: pieces of 8
//   in order   c c c c c c a a | e e e e d d d b    (in the row's order two documents would be cut, and the first rank had most pairs)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "executor/model/documents.h"

namespace executor {

// As they stand in the row. Those that fill a rank come first, one behind the other; then those with most work, each where there is room and least work
// so far; what finds no room on one rank lies at the border of two.
std::vector<DocumentRows> order_of(std::span<const DocumentRows> documents, std::int64_t ranks);

}  // namespace executor
