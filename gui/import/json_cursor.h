// Walks over JSON text of any size without copying it. Forgives what traces of real programs contain: control characters inside strings,
// numbers in quotes. Knows no events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gui {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
  void seek(std::size_t position) { at_ = begin_ + position; }
  bool atEnd() { return peek() == '\0' && at_ >= end_; }
  char peek();             // the next character that is no space; 0 at the end
  bool take(char wanted);  // it, if it is the next one
  // Views into the text. Empty optional: the text ends or is something else; the cursor then stands where that was seen.
  std::optional<std::string_view> string();  // without its quotes, escapes as they are
  std::optional<std::string_view> value();   // any, as written
  std::optional<std::string_view> scalar();  // number, word or string (without quotes)

 private:
  bool skipString();
  bool skipNested();
  const char *begin_, *at_, *end_;
};

std::string unescaped(std::string_view text);                        // broken escapes stay as they are
std::optional<std::int64_t> nanosecondsOf(std::string_view micros);  // "123.456": exact; not a number or out of range: none

}  // namespace gui
