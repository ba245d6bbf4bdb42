// A dictionary of literals that stands in Python code, as JSON: nothing is evaluated.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sim {

// Settings of DeepSpeed. Nothing: the code holds no such dictionary, or several; a value is an expression; a line sets one of its keys.
std::optional<std::string> deepspeed_dictionary(std::string_view python);

}  // namespace sim
