// Byte-level tokens: token = byte, 0 .. 255, stored as nanoGPT does (uint16, little-endian, no header).
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace cli {
namespace {

std::string join_texts(const std::vector<std::string>& paths) {
  std::string joined;
  for (const std::string& path : paths) {
    const std::string text = sim::load_text_file(path);
    if (text.empty())
      throw sim::InputError(path, {{"", "is empty: there is nothing to train on", "leave it out, or name a file with text"}});
    joined += text;
  }
  return joined;
}

std::string tokens_of(const std::string& text) {
  std::string tokens(2 * text.size(), '\0');
  for (std::size_t i = 0; i < text.size(); ++i) tokens[2 * i] = text[i];  // the high byte stays 0
  return tokens;
}

}  // namespace

int run(const TokenizeOptions& options, const Console& console) {
  require_output(options.output, options.texts);
  const std::string text = join_texts(options.texts);
  sim::save_text_file(tokens_of(text), options.output);
  console.result(fmt::format("{} tokens (vocabulary 256, uint16) of {} file{} in {}", text.size(), options.texts.size(),
                             options.texts.size() == 1 ? "" : "s", options.output),
                 [&] { return tokenize_document(options, static_cast<std::int64_t>(text.size())); });
  return kSuccess;
}

}  // namespace cli
