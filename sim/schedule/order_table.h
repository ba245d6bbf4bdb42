// A pipeline order written out, one row a rank: the CSV that torch.distributed.pipelining reads (`_load_csv`) and torchtitan takes
// (`pipeline_parallel_schedule_csv`). Cells are {virtual stage}{F|I|W|B}{microbatch}: forward, gradient of the input, gradients of the weights,
// both at once. Empty cells are bubbles; cells of communication (SEND_F, RECV_B, UNSHARD, ...) are implied, and skipped.
//
//   0F0,0F1,,0I0,0W0,0I1,0W1
//   ,1F0,1I0,1F1,1I1,1W0,1W1
#pragma once

#include <string>
#include <vector>

#include "sim/schedule/schedule.h"
#include "sim/units/input_error.h"

namespace sim {

inline constexpr std::string_view kOrderFromCsv = "csv";  // as a plan names such a schedule

struct OrderTable {
  std::vector<std::vector<StageAction>> stages;
  std::int32_t chunks = 1;
  std::int32_t microbatches = 0;
  bool splits_backward = false;  // some I or W is there; a B is then an I and a W
  ChunkPlacement placement = ChunkPlacement::Loop;
};

// Rows as in the file. What cannot be read or placed is told in `violations`, by row and cell; the table is of use only when there are none.
OrderTable parse_order(const std::vector<std::string>& rows, std::vector<Violation>& violations);
// The rows of any order, in the same notation.
std::vector<std::string> order_rows(const OrderTable& table);

// What keeps a table from being performed: an action missing, twice or too early; actions that wait for each other in a circle, all named.
std::vector<Violation> order_faults(const OrderTable& table);

}  // namespace sim
