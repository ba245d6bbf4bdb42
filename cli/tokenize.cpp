// Text files -> a token file, little-endian: uint16 without a header, as nanoGPT has it, or uint32 behind ours where 16 bits are too few.
#include <fmt/format.h>

#include <optional>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "sim/tokenizer/tokenizer.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "sim/units/token_layout.h"

namespace cli {
namespace {

std::string load_text(const std::string& path) {
  std::string text = sim::load_text_file(path);
  if (text.empty()) throw sim::InputError(path, {{"", "is empty: there is nothing to train on", "leave it out, or name a file with text"}});
  return text;
}

sim::TokenIds bytes_of(const std::string& text) {
  sim::TokenIds ids;
  for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
  return ids;
}

sim::TokenIds tokens_of(const std::string& path, const sim::Tokenizer* tokenizer) {
  const std::string text = load_text(path);
  if (tokenizer == nullptr) return bytes_of(text);
  if (!sim::is_utf8(text)) throw sim::InputError(path, {{"", "is no UTF-8", "convert it, or leave --tokenizer out: a token a byte"}});
  return tokenizer->encode(text);
}

void write_tokens(const sim::TokenIds& ids, std::size_t width, std::string& file) {
  for (const std::uint32_t id : ids)
    for (std::size_t byte = 0; byte < width; ++byte) file += static_cast<char>(id >> (8 * byte) & 0xff);
}

}  // namespace

int run(const TokenizeOptions& options, const Console& console) {
  std::vector<std::string> read = options.texts;
  read.push_back(options.tokenizer);
  require_outputs({{options.output, sim::OwnFile::Tokens}}, read);
  std::optional<sim::Tokenizer> tokenizer;
  if (!options.tokenizer.empty()) tokenizer = sim::load_tokenizer(options.tokenizer);
  TokenizedText text{.vocabulary = tokenizer ? tokenizer->vocabulary() : 256};
  text.is_wide = text.vocabulary > 1 << 16;
  const std::size_t width = text.is_wide ? 4 : 2;
  std::string file = text.is_wide ? sim::token_header(sim::Bytes(4)) : "";
  for (const std::string& path : options.texts) {
    const sim::TokenIds ids = tokens_of(path, tokenizer ? &*tokenizer : nullptr);
    text.tokens += static_cast<std::int64_t>(ids.size());
    write_tokens(ids, width, file);
  }
  sim::save_text_file(file, options.output);
  console.result(fmt::format("{} tokens (vocabulary {}, uint{}) of {} file{} in {}", text.tokens, text.vocabulary, 8 * width,
                             options.texts.size(), options.texts.size() == 1 ? "" : "s", options.output),
                 [&] { return tokenize_document(options, text); });
  return kSuccess;
}

}  // namespace cli
