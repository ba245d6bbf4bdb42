// Whole numbers of a shell: sums, products, comparisons, choices, brackets, names. An overflow, a division by zero and an unknown give nothing.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <climits>

#include "sim/recipe/shell_script.h"

namespace sim {
namespace {

using Number = std::optional<long long>;

struct Sign {
  std::string_view text;
  int level;
  bool (*apply)(long long, long long, long long*);  // true: beyond 64 bits
};
template <auto compare>
bool comparison(long long a, long long b, long long* result) {
  *result = compare(a, b) ? 1 : 0;
  return false;
}
bool divided(long long a, long long b, long long* result) {
  if (b == 0 || (b == -1 && a == LLONG_MIN)) return true;
  *result = a / b;
  return false;
}
bool remainder(long long a, long long b, long long* result) {
  if (b == 0 || b == -1) return b == 0 || (*result = 0) != 0;
  *result = a % b;
  return false;
}
constexpr bool is_above(long long a, long long b) { return a > b; }
constexpr Sign kSigns[] = {
    // longer ones first
    {"||", 1, comparison<[](long long a, long long b) { return a != 0 || b != 0; }>},
    {"&&", 2, comparison<[](long long a, long long b) { return a != 0 && b != 0; }>},
    {"==", 3, comparison<[](long long a, long long b) { return a == b; }>},
    {"!=", 3, comparison<[](long long a, long long b) { return a != b; }>},
    {"<=", 4, comparison<[](long long a, long long b) { return a <= b; }>},
    {">=", 4, comparison<[](long long a, long long b) { return a >= b; }>},
    {"<", 4, comparison<[](long long a, long long b) { return a < b; }>},
    {">", 4, comparison<is_above>},
    {"+", 5, [](long long a, long long b, long long* r) { return __builtin_add_overflow(a, b, r); }},
    {"-", 5, [](long long a, long long b, long long* r) { return __builtin_sub_overflow(a, b, r); }},
    {"*", 6, [](long long a, long long b, long long* r) { return __builtin_mul_overflow(a, b, r); }},
    {"/", 6, divided},
    {"%", 6, remainder},
};
constexpr int kTightest = 7;
constexpr int kDeepestBrackets = 64;

class Arithmetic {
 public:
  Arithmetic(std::string_view text, ShellScope& scope) : text_(text), scope_(scope) {}
  Number value() && {
    const Number number = chosen();
    skip_spaces();
    return at_ == text_.size() ? number : std::nullopt;
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  const Sign* sign_of(int level) {
    skip_spaces();
    for (const Sign& one : kSigns)
      if (text_.substr(at_).starts_with(one.text)) return one.level == level ? &one : nullptr;
    return nullptr;
  }
  bool take(char c) {
    skip_spaces();
    return at_ < text_.size() && text_[at_] == c && ++at_ > 0;
  }
  Number chosen() {  // a ? b : c
    const Number condition = of_level(1);
    if (!take('?')) return condition;
    const Number yes = chosen();
    if (!take(':')) return std::nullopt;
    const Number no = chosen();
    return !condition ? std::nullopt : *condition != 0 ? yes : no;
  }
  Number of_level(int level) {
    if (level == kTightest) return unary();
    Number left = of_level(level + 1);
    while (const Sign* const found = sign_of(level)) {
      at_ += found->text.size();
      const Number right = of_level(level + 1);
      long long result = 0;
      left = !left || !right || found->apply(*left, *right, &result) ? std::nullopt : Number(result);
    }
    return left;
  }
  Number unary() {
    skip_spaces();
    if (at_ >= text_.size() || ++depth_ > kDeepestBrackets) return std::nullopt;
    const char c = text_[at_];
    if (c == '-' || c == '+') {
      ++at_;
      const Number inner = unary();
      long long result = 0;
      return !inner || c == '+' || __builtin_sub_overflow(0LL, *inner, &result) ? (c == '+' ? inner : std::nullopt) : Number(result);
    }
    if (c == '(') {
      ++at_;
      const Number inner = chosen();
      skip_spaces();
      if (at_ >= text_.size() || text_[at_] != ')') return std::nullopt;
      ++at_;
      return inner;
    }
    return atom();
  }
  Number atom() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    long long number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (!word.empty() && error == std::errc{} && end == word.data() + word.size()) return number;
    const std::vector<std::string>* const values = scope_.find(std::string(word));
    if (values == nullptr || values->empty()) return std::nullopt;
    const std::string& inner = values->front();  // a number: formulas inside formulas have no end
    const auto [last, fault] = std::from_chars(inner.data(), inner.data() + inner.size(), number);
    return !inner.empty() && fault == std::errc{} && last == inner.data() + inner.size() ? Number(number) : std::nullopt;
  }

  std::string_view text_;
  ShellScope& scope_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<long long> arithmetic(std::string_view expression, ShellScope& scope) { return Arithmetic(expression, scope).value(); }

std::optional<ArithmeticChange> change_in(std::string_view expression, ShellScope& scope) {
  std::string text(expression);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
  const bool is_before = text.starts_with("++") || text.starts_with("--");
  if (is_before) text = text.substr(2) + text.substr(0, 2);
  const std::size_t end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_name_character) - text.begin());
  const std::string name = text.substr(0, end), behind = text.substr(end);
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return std::nullopt;
  if (behind == "++" || behind == "--") {
    const Number after = arithmetic(name + behind.substr(0, 1) + "1", scope);
    return ArithmeticChange{name, after, is_before ? after : arithmetic(name, scope)};
  }
  const bool adds = behind.size() > 2 && behind[1] == '=' && std::string_view("+-*/%").find(behind[0]) != std::string_view::npos;
  if (!adds && (!behind.starts_with("=") || behind.starts_with("=="))) return std::nullopt;
  const std::string right = "(" + behind.substr(adds ? 2 : 1) + ")";
  const Number after = arithmetic(adds ? name + behind[0] + right : right, scope);
  return ArithmeticChange{name, after, after};
}

}  // namespace sim
