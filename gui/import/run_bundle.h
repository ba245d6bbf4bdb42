// A run folder as one file that opens elsewhere: a .zip of its files, without checkpoints.
#pragma once

#include <string>

#include "gui/core/progress.h"

namespace gui {

// Written aside, then renamed. Throws sim::InputError: not readable, nothing to pack, no room, more than 4 GiB.
void writeBundle(const std::string& run_folder, const std::string& path, Progress& progress);
// Into a folder, which is made. Throws sim::InputError: no zip, cut, a name that leaves the folder, a sum that does not agree.
// Told before each file: bytes of all.
void unpackBundle(const std::string& path, const std::string& folder, const sim::Told& told = {});

}  // namespace gui
