// Steps that change a text before it is cut: normal forms of Unicode and replacements.
#pragma once

#include <optional>
#include <string>

#include "sim/tokenizer/text_splitter.h"

namespace sim {

std::optional<TextStep> normal_form(const std::string& name);  // NFC, NFD, NFKC, NFKD, Lowercase; nullopt: another name
TextStep replace_text(std::string from, std::string to);       // everywhere, from the left
std::optional<TextStep> replace_pattern(const std::string& pattern, const std::string& to);
TextStep prepend_text(std::string text);  // to every piece that is not empty
TextStep strip_space(bool left, bool right);

}  // namespace sim
