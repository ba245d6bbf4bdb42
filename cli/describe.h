// The command line described for others than --help: a manual page, and completions of shells. From the same declarations.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace cli {

// kind: man, bash, zsh or fish; none: another.
std::optional<std::string> described(CLI::App& app, std::string_view kind);

}  // namespace cli
