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

bool is_own(std::string_view bytes, OwnFile kind) {
  constexpr std::size_t kHead = 4096;
  switch (kind) {
    case OwnFile::Document: return has(bytes.substr(0, kHead), "\"format\": \"meshwright.");
    case OwnFile::Trace: return has(bytes.substr(0, kHead), "simulated: ");
    case OwnFile::Snapshot: return bytes.starts_with(std::string_view("\x80\x02}(X\x08\0\0\0segments", 17));
    case OwnFile::Tokens: return are_tokens(bytes);
    case OwnFile::Order: return is_order(bytes);
    case OwnFile::Recipe: return has(bytes.substr(0, kHead), "Meshwright") || has(bytes.substr(0, kHead), "meshwright");
    case OwnFile::Weights: return has(bytes, "\"producer\":\"meshwright\"");
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
