// Text files -> a token file, little-endian: uint16 without a header, as nanoGPT has it, or uint32 behind ours where 16 bits are too few.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "sim/tokenizer/tokenizer.h"
#include "sim/units/counted.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "sim/units/token_layout.h"

namespace cli {
namespace {

std::string load_text(const std::string& path) {
  std::string text = sim::load_text_file(path);
  if (text.empty()) throw sim::InputError(path, {{"", "is empty: there is nothing to train on", "leave it out, or name a file with text"}});
  const std::string kind = sim::foreign_kind(text);
  const bool is_text =
      kind.starts_with("JSON") && !path.ends_with(".jsonl");  // a file of code may be JSON; lines of samples hold keys beside text
  if (!kind.empty() && !is_text)
    throw sim::InputError(path, {{"", fmt::format("is {}, no plain text", kind), "write its text alone into a file"}});
  return text;
}

// Of all texts together.
class ReadBytes {
 public:
  explicit ReadBytes(const std::vector<std::string>& texts) {
    std::error_code not_there;  // reading it says so
    for (const std::string& path : texts)
      if (const std::uintmax_t size = std::filesystem::file_size(path, not_there); !not_there) all_ += static_cast<std::int64_t>(size);
  }
  sim::Told of_next() {
    return [this, before = done_](const sim::HowFar& far) {
      done_ = before + far.done;
      progress_.update({.done = done_, .all = std::max(all_, done_), .details = {}});
    };
  }

 private:
  std::int64_t done_ = 0, all_ = 0;
  Progress progress_{"tokenize: byte"};
};

sim::TokenIds bytes_of(const std::string& text, const sim::Told& told) {
  constexpr std::size_t kOften = 1 << 20;
  sim::TokenIds ids;
  ids.reserve(text.size());
  for (const char byte : text) {
    ids.push_back(static_cast<unsigned char>(byte));
    if (ids.size() % kOften == 0) told({.done = std::ssize(ids), .all = std::ssize(text)});
  }
  told({.done = std::ssize(text), .all = std::ssize(text)});
  return ids;
}

sim::TokenIds tokens_of(const std::string& path, const sim::Tokenizer* tokenizer, const sim::Told& told) {
  const std::string text = load_text(path);
  if (tokenizer == nullptr) return bytes_of(text, told);
  if (!sim::is_utf8(text)) throw sim::InputError(path, {{"", "is no UTF-8", "convert it, or leave --tokenizer out: a token a byte"}});
  return tokenizer->encode(text, told);
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
  ReadBytes read_bytes(options.texts);
  for (const std::string& path : options.texts) {
    const sim::TokenIds ids = tokens_of(path, tokenizer ? &*tokenizer : nullptr, read_bytes.of_next());
    text.tokens += static_cast<std::int64_t>(ids.size());
    write_tokens(ids, width, file);
  }
  sim::save_text_file(file, options.output);
  console.result(fmt::format("{} (vocabulary {}, uint{}) of {} in {}", sim::counted(text.tokens, "token"), text.vocabulary, 8 * width,
                             sim::counted(std::ssize(options.texts), "file"), options.output),
                 [&] { return tokenize_document(options, text); });
  return kSuccess;
}

}  // namespace cli
