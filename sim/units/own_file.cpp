#include "sim/units/own_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

std::string beginning_of(const std::string& path) {
  constexpr std::size_t kEnough = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kEnough, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(count_of(file.gcount()));
  return bytes;
}

bool has(std::string_view bytes, std::string_view mark) { return bytes.find(mark) != std::string_view::npos; }

// Its own format stands first; a plan holds others behind it.
bool is_document(std::string_view bytes, std::string_view format) {
  constexpr std::string_view kFormat = "\"format\": \"meshwright.";
  const std::size_t at = bytes.find(kFormat);
  return at != std::string_view::npos && bytes.substr(at + kFormat.size()).starts_with(format);
}

// Ours with a header; without one, of a byte each: every high byte is 0.
bool are_tokens(std::string_view bytes) {
  if (bytes.starts_with("meshtok1")) return true;
  for (std::size_t at = 1; at < bytes.size(); at += 2)
    if (bytes[at] != '\0') return false;
  return bytes.size() % 2 == 0;
}

bool is_order(std::string_view bytes) {
  return bytes.find_first_not_of("0123456789FIWB,\r\n -") == std::string_view::npos && has(bytes, "F");
}

// Ranks of numbered groups: the form is of another program, which takes no mark beside them.
bool are_groups(std::string_view bytes) {
  return bytes.starts_with("{") && bytes.find_first_not_of("{}[]0123456789,:\" \n") == std::string_view::npos;
}

bool is_own(std::string_view bytes, OwnFile kind) {
  constexpr std::size_t kHead = 4096, kChakraHead = 64;
  switch (kind) {
    case OwnFile::Plan: return is_document(bytes, "plan");
    case OwnFile::Profile: return is_document(bytes, "hardware") || is_document(bytes, "cluster") || is_document(bytes, "software");
    case OwnFile::Predictions: return is_document(bytes, "row_predictions");
    case OwnFile::Trace: return has(bytes.substr(0, kHead), "simulated: ");
    case OwnFile::Snapshot: return bytes.starts_with(std::string_view("\x80\x02}(X\x08\0\0\0segments", 17));
    case OwnFile::Tokens: return are_tokens(bytes);
    case OwnFile::Order: return is_order(bytes);
    case OwnFile::Ledger: return bytes.starts_with("# meshwright.ledger/");
    case OwnFile::Recipe: return has(bytes.substr(0, kHead), "Written by Meshwright");
    case OwnFile::Weights: return has(bytes, "\"producer\":\"meshwright\"");
    case OwnFile::Chakra: return has(bytes.substr(0, kChakraHead), "meshwright");
    case OwnFile::Groups: return are_groups(bytes);
  }
  return false;
}

}  // namespace

bool may_be_written_over(const std::string& path, OwnFile kind) {
  std::error_code none_there;
  if (!std::filesystem::is_regular_file(path, none_there) || std::filesystem::file_size(path, none_there) == 0) return true;
  return is_own(beginning_of(path), kind);
}

void require_own(const std::string& path, OwnFile kind) {
  if (!may_be_written_over(path, kind))
    throw InputError(path, {{"", "is there already, and nothing that this command has written", "name another file, or remove this one"}});
}

}  // namespace sim
