// An NCCL for tests on any machine: ranks are threads of one process, buffers are tensors of the checked device. It behaves as NCCL does where the
// communicator's logic depends on it: communicators come into being when all ranks came (those before wait), operations match by their order alone and take no notice of
// what they are, errors come by themselves, abort() is the only way out of a hang.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "executor/communication/nccl_library.h"
#include "executor/communication/rendezvous.h"

namespace executor {

const NcclLibrary& fake_nccl();
Rendezvous fake_rendezvous();  // a map; get() gives up after five seconds

struct FakeNcclSettings {
  std::chrono::milliseconds patience{5000};  // that an operation waits for its peers inside the call; then it goes on in the background
  std::int32_t failing_rank = -1;            // whose communicators report an error by themselves
  std::chrono::milliseconds lasts{0};        // before which the host does not see the end of an operation: others go on beside it
};
void reset_fake_nccl(const FakeNcclSettings& settings);
struct FakeNcclCalls {
  std::int64_t operations = 0, states = 0;                 // since the reset
  std::int32_t aborted = 0, finalised = 0, destroyed = 0;  // communicators
};
FakeNcclCalls fake_nccl_calls();
inline std::int32_t aborted_communicators() { return fake_nccl_calls().aborted; }

// Runs a rank a thread, each with its own place; rethrows what the first of them threw.
void run_ranks(std::int32_t ranks, const std::function<void(NcclPlace place)>& rank);

}  // namespace executor
