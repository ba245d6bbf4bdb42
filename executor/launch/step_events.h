// Steps as TensorBoard's event files hold them: TFRecord framing (tensorflow.org/tutorials/load_data/tfrecord) around messages of event.proto.
//
//   length: 8 bytes | masked CRC32C of these 8: 4 | message | masked CRC32C of the message: 4        little-endian, one record behind the other
//
// A file begins with its version; one that continues a run says from which step on, so that a reader forgets what was lost.
#pragma once

#include <string>
#include <string_view>

#include "executor/launch/step_report.h"

namespace executor {

struct WallTime {
  double seconds = 0;  // since 1970
};

std::string first_events(CompletedSteps resumed, WallTime now);  // what a file begins with
// One record: loss, grad_norm, lr, tokens_per_second, step_time_seconds and memory_allocated_bytes, by the names of metrics.ndjson; with them the
// other memory of a GPU, and the loss scale where there is one. Rounded to fp32, as TensorBoard keeps them.
std::string step_event(const StepFigures& figures, WallTime now);

std::uint32_t masked_crc32c(std::string_view data);

}  // namespace executor
