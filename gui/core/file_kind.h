// What a file or folder is, judged by content and never by its name. Used when something is opened, dropped or named on the command line.
#pragma once

#include <cstdint>
#include <string>

namespace gui {

enum class FileKind : std::uint8_t { Model, Cluster, Plan, Recipe, RunFolder, Trace, Snapshot, Bundle, View };
FileKind kindOfFile(const std::string& path);  // throws sim::InputError that says what can be opened

}  // namespace gui
