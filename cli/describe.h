// The command line described for others than --help: a manual page, completions of shells, the nearest word. From the same declarations.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace cli {

// kind: man, bash, zsh or fish; none: another.
std::optional<std::string> described(CLI::App& app, std::string_view kind);

// What a person may have meant by a command or an option that is not known; empty: nothing near, or another fault.
std::string meant(const CLI::App& app, int argc, const char* const* argv);

// `estimate`, a command of before: every option that it had is one of `plan`.
std::string call_instead_of_estimate(std::span<const char* const> arguments);

}  // namespace cli
