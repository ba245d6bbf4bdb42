// Whether a file that is about to be written over is one that Meshwright wrote: nothing else is, however its name was given.
#pragma once

#include <cstdint>
#include <string>

namespace sim {

enum class OwnFile : std::uint8_t { Plan, Profile, Predictions, Trace, Snapshot, Tokens, Order, Ledger, Recipe, Weights, Chakra, Groups };

// Nothing there, an empty file and what is no regular file (a device, a pipe) may be written.
bool may_be_written_over(const std::string& path, OwnFile kind);
void require_own(const std::string& path, OwnFile kind);  // throws InputError where it may not

}  // namespace sim
