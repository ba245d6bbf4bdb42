#include "gui/import/json_cursor.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace gui {
namespace {

constexpr std::int64_t kMostMicroseconds = std::int64_t{1} << 52;

// What ends a walk through nested values, or changes its depth.
constexpr std::array<bool, 256> kStructural = [] {
  std::array<bool, 256> found{};
  for (const char c : {'"', '{', '}', '[', ']'}) found[static_cast<unsigned char>(c)] = true;
  return found;
}();

bool endsScalar(char c) { return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

void appendUtf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    text += static_cast<char>(0xe0 | code >> 12);
    text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  }
}

}  // namespace

char JsonCursor::peek() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  return at_ < end_ ? *at_ : '\0';
}

bool JsonCursor::take(char wanted) {
  if (peek() != wanted || at_ >= end_) return false;
  ++at_;
  return true;
}

// From the opening quote to behind the closing one. A quote after an odd number of backslashes is part of the string.
bool JsonCursor::skipString() {
  const char* from = ++at_;
  for (;;) {
    const char* quote = static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
    if (quote == nullptr) {
      at_ = end_;
      return false;
    }
    at_ = quote + 1;
    const char* slash = quote;
    while (slash > from && slash[-1] == '\\') --slash;
    if ((quote - slash) % 2 == 0) return true;
  }
}

bool JsonCursor::skipNested() {
  int depth = 0;
  while (at_ < end_) {
    while (at_ < end_ && !kStructural[static_cast<unsigned char>(*at_)]) ++at_;
    if (at_ >= end_) return false;
    if (*at_ == '"') {
      if (!skipString()) return false;
      continue;
    }
    depth += *at_ == '{' || *at_ == '[' ? 1 : -1;
    ++at_;
    if (depth == 0) return true;
  }
  return false;
}

std::optional<std::string_view> JsonCursor::string() {
  if (peek() != '"') return std::nullopt;
  const char* from = at_ + 1;
  if (!skipString()) return std::nullopt;
  return std::string_view(from, at_ - 1);
}

std::optional<std::string_view> JsonCursor::value() {
  const char next = peek();
  const char* from = at_;
  if (next == '"') {
    if (!skipString()) return std::nullopt;
  } else if (next == '{' || next == '[') {
    if (!skipNested()) return std::nullopt;
  } else {
    while (at_ < end_ && !endsScalar(*at_)) ++at_;
  }
  if (at_ == from || (at_ >= end_ && next != '"' && next != '{' && next != '[')) return std::nullopt;
  return std::string_view(from, at_);
}

std::optional<std::string_view> JsonCursor::scalar() {
  const char next = peek();
  if (next == '"') return string();
  if (next == '{' || next == '[') return std::nullopt;
  return value();
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      plain += text[at];
      continue;
    }
    const char kind = text[++at];
    std::uint32_t code = 0;
    const bool is_code = kind == 'u' && at + 4 < text.size() &&
                         std::from_chars(text.data() + at + 1, text.data() + at + 5, code, 16).ptr == text.data() + at + 5;
    if (is_code) {
      appendUtf8(plain, code);
      at += 4;
    } else {
      plain += kind == 'n' || kind == 'r' || kind == 't' || kind == 'b' || kind == 'f' ? ' ' : kind;
    }
  }
  return plain;
}

std::optional<std::int64_t> nanosecondsOf(std::string_view micros) {
  std::int64_t whole = 0;
  const char* end = micros.data() + micros.size();
  const auto [behind, error] = std::from_chars(micros.data(), end, whole);
  if (error != std::errc() || std::abs(whole) > kMostMicroseconds) return std::nullopt;
  if (behind < end && *behind != '.') {  // an exponent: no digits to keep
    double number = 0;
    const auto [last, failed] = std::from_chars(micros.data(), end, number);
    if (failed != std::errc() || last != end || !(std::abs(number) < static_cast<double>(kMostMicroseconds))) return std::nullopt;
    return std::llround(number * 1000);
  }
  std::int64_t rest = 0, weight = 100;
  for (const char* at = behind + (behind < end); at < end; ++at, weight /= 10) {
    if (*at < '0' || *at > '9') return std::nullopt;
    rest += weight * (*at - '0');
  }
  return whole * 1000 + (micros.front() == '-' ? -rest : rest);
}

}  // namespace gui
