#include "sim/units/token_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

constexpr std::string_view kOurs = "meshtok1", kMegatron{"MMIDIDX\0\0", 9};
constexpr std::int64_t kHeader = 16;

[[noreturn]] void refuse(const std::string& path, std::string problem, std::string remedy) {
  throw InputError(path, {{"", std::move(problem), std::move(remedy)}});
}

template <class Value>
Value at(std::string_view bytes, std::size_t position) {
  Value value{};
  if (position + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + position, sizeof value);
  return value;
}

std::string beginning(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)), "make it with:  meshwright tokenize text... -o tokens.bin");
  std::string bytes(most, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(count_of(file.gcount()));
  return bytes;
}

struct Foreign {
  std::string_view magic, what;
};
constexpr auto kForeign = std::to_array<Foreign>({{"\x93NUMPY", "a NumPy array (.npy)"},
                                                  {"PAR1", "a Parquet table"},
                                                  {"PK\x03\x04", "a zip archive (.npz)"},
                                                  {"\x1f\x8b", "compressed by gzip"},
                                                  {"{\"", "JSON text (.jsonl)"},
                                                  {"[{", "JSON text"},
                                                  {"MMIDIDX", "the index of a Megatron data set"}});

void refuse_foreign(const std::string& path, std::string_view bytes) {
  if (const std::string kind = foreign_kind(bytes); !kind.empty())
    refuse(path, fmt::format("is {}, no row of tokens", kind),
           "write the tokens as uint16 or uint32, or the text with:  meshwright tokenize text... -o tokens.bin");
}

void require_stated(const std::string& path, TokenType stated, std::int64_t width) {
  if (stated == TokenType::Unstated || (stated == TokenType::Uint16) == (width == 2)) return;
  refuse(path, fmt::format("holds tokens of {} bits, as it says itself", 8 * width), "leave --token-type out");
}

TokenLayout ours(const std::string& path, std::string_view bytes, std::int64_t size) {
  const std::int64_t width = at<std::uint32_t>(bytes, kOurs.size());
  if ((width != 2 && width != 4) || size < kHeader || (size - kHeader) % width != 0)
    refuse(path, "has a damaged header, or is cut", "write it again with meshwright tokenize");
  return {.begin = Bytes(kHeader), .width = Bytes(width), .tokens = (size - kHeader) / width};
}

// Its types by number; those that can hold tokens. Signed ones hold none below zero: as unsigned they would be beyond any vocabulary.
std::optional<std::int64_t> megatron_width(int code) {
  constexpr int kInt16 = 3, kInt32 = 4, kUint16 = 8;
  if (code == kInt32) return 4;
  return code == kInt16 || code == kUint16 ? std::optional<std::int64_t>(2) : std::nullopt;
}

std::optional<TokenLayout> by_index(const std::string& path, std::int64_t size) {
  if (!path.ends_with(".bin")) return std::nullopt;
  const std::string index = path.substr(0, path.size() - 4) + ".idx";
  if (!std::filesystem::exists(index)) return std::nullopt;
  constexpr std::size_t kVersion = 9, kType = 17, kCount = 18, kLengths = 34;
  std::string bytes = beginning(index, kLengths);
  if (!bytes.starts_with(kMegatron) || at<std::uint64_t>(bytes, kVersion) != 1)
    refuse(index, "is no index of a Megatron data set (MMIDIDX, version 1)", "remove it, or name another token file");
  const std::optional<std::int64_t> width = megatron_width(at<std::uint8_t>(bytes, kType));
  if (!width)
    refuse(index, fmt::format("says type {}, which holds no tokens: 3 is int16, 4 int32, 8 uint16", at<std::uint8_t>(bytes, kType)),
           "write the data set again with one of them");
  const std::uint64_t documents = at<std::uint64_t>(bytes, kCount);
  if (documents > std::filesystem::file_size(index) / 4) refuse(index, "is cut", "restore it");
  bytes = beginning(index, kLengths + 4 * documents);
  std::int64_t tokens = 0;
  for (std::uint64_t document = 0; document < documents; ++document) tokens += at<std::int32_t>(bytes, kLengths + 4 * document);
  if (tokens * *width != size)
    refuse(path, fmt::format("has {} bytes, its index {} says {} tokens of {}", size, index, tokens, *width), "restore the data set");
  return TokenLayout{.begin = Bytes(0), .width = Bytes(*width), .tokens = tokens};
}

// Small numbers in twice the width of Half: every second Half is 0.
template <class Half>
bool looks_twice_as_wide(std::string_view bytes) {
  constexpr std::size_t kEnough = 64;
  if (bytes.size() < kEnough) return false;
  bool has_others = false;
  for (std::size_t i = 0; i + 2 * sizeof(Half) <= bytes.size(); i += 2 * sizeof(Half)) {
    if (at<Half>(bytes, i + sizeof(Half)) != 0) return false;
    has_others = has_others || at<Half>(bytes, i) != 0;
  }
  return has_others;
}

void refuse_wider(const std::string& path, std::string_view bytes, TokenType stated) {
  if (stated == TokenType::Uint16) return;  // it may be meant
  if (looks_twice_as_wide<std::uint32_t>(bytes))
    refuse(path, "looks like 64-bit integers: every second 32-bit number is 0", "write its tokens as uint16 or uint32");
  if (stated == TokenType::Unstated && looks_twice_as_wide<std::uint16_t>(bytes))
    refuse(path, "looks like 32-bit tokens: every second 16-bit number is 0", "say what it is: --token-type uint32, or uint16");
}

TokenLayout plain(const std::string& path, std::string_view bytes, std::int64_t size, TokenType stated) {
  refuse_wider(path, bytes, stated);
  const std::int64_t width = stated == TokenType::Uint32 ? 4 : 2;
  if (size == 0 || size % width != 0)
    refuse(path, fmt::format("has {} bytes, which is no whole number of {}-byte tokens", size, width),
           "make it with:  meshwright tokenize text... -o tokens.bin");
  return {.begin = Bytes(0), .width = Bytes(width), .tokens = size / width};
}

}  // namespace

TokenLayout token_layout(const std::string& path, TokenType stated) {
  constexpr std::size_t kLook = 1 << 16;
  if (std::filesystem::is_directory(path)) refuse(path, "is a folder", "name the file with the tokens");
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
    refuse(path, "is a device or a pipe: samples are read from any place of a file",
           "make one with:  meshwright tokenize text... -o tokens.bin");
  const std::string bytes = beginning(path, kLook);
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  refuse_foreign(path, bytes);
  if (bytes.starts_with(kOurs)) {
    const TokenLayout layout = ours(path, bytes, size);
    require_stated(path, stated, layout.width.value());
    return layout;
  }
  if (const std::optional<TokenLayout> layout = by_index(path, size)) {
    require_stated(path, stated, layout->width.value());
    return *layout;
  }
  return plain(path, bytes, size, stated);
}

std::string foreign_kind(std::string_view bytes) {
  const auto* const found = std::ranges::find_if(kForeign, [&](const Foreign& foreign) { return bytes.starts_with(foreign.magic); });
  return found == kForeign.end() ? "" : std::string(found->what);
}

std::string token_header(Bytes width) {
  std::string header(kHeader, '\0');
  kOurs.copy(header.data(), kOurs.size());
  header[kOurs.size()] = static_cast<char>(width.value());
  return header;
}

}  // namespace sim
