// Programs that are known by their words and not read: whoever gives their file is told so, not that it is a broken file of another program.
#pragma once

#include <string>

namespace sim {

// Throws InputError that names the program, and what of it can be imported.
void refuse_foreign_file(const std::string& path, const std::string& text);        // YAML, JSON, TOML, Python: by the words of its settings
void refuse_foreign_command(const std::string& path, const std::string& command);  // by what a line starts

}  // namespace sim
