// Conditions of a shell: `[ "$A" = b ]`, `[[ $A == b* && -n $B ]]`. Yes, no, or what the text does not decide.
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "sim/recipe/accounting.h"
#include "sim/recipe/shell_script.h"

namespace sim {
namespace {

bool is_decided(std::string_view text) { return text.find(kUnknownBegin) == std::string_view::npos; }

// A variable that is not set, or an argument that is not given: nothing, as ${NAME:-default} takes it. What a command prints is something.
bool is_not_set(const std::string& value) {
  const std::vector<std::string> open = unknowns_in(value);
  const auto is_of_a_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return open.size() == 1 && value == unknown_value(open.front()) && std::ranges::all_of(open.front(), is_of_a_name);
}
std::string with_nothing_where_not_set(std::string value) {
  if (is_not_set(value)) value.clear();
  return value;
}

Verdict compared(const std::string& left, const std::string& test, const std::string& right, ShellScope& scope) {
  if (right.empty() && is_not_set(left)) return compared("", test, right, scope);
  if (!is_decided(left) || !is_decided(right)) return Verdict::Unknown;
  if (test == "=" || test == "==") return verdict_of(fnmatch(right.c_str(), left.c_str(), 0) == 0);
  if (test == "!=") return verdict_of(fnmatch(right.c_str(), left.c_str(), 0) != 0);
  constexpr std::string_view kNumeric[][2] = {{"-eq", "=="}, {"-ne", "!="}, {"-lt", "<"}, {"-le", "<="}, {"-gt", ">"}, {"-ge", ">="}};
  for (const auto& [name, sign] : kNumeric)
    if (test == name)
      if (const auto holds = arithmetic("(" + left + ")" + std::string(sign) + "(" + right + ")", scope)) return verdict_of(*holds != 0);
  return Verdict::Unknown;
}

// Where a sign stands outside of brackets; the end: nowhere.
std::size_t outside(const std::vector<std::string>& raw, std::string_view sign) {
  int depth = 0;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    depth += raw[at] == "(" || raw[at] == "\\(" ? 1 : raw[at] == ")" || raw[at] == "\\)" ? -1 : 0;
    if (depth == 0 && raw[at] == sign) return at;
  }
  return raw.size();
}

// `[ -f $FILE ]`, `! -d x`: whether it is there, no variable says.
bool asks_for_a_file(const std::string& condition) {
  constexpr std::string_view kAsking = "-a -b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S";
  std::istringstream words(condition);
  bool is_first = true;
  for (std::string word; words >> word; is_first = is_first && (word == "!" || word == "[" || word == "[[" || word == "test"))
    if (is_first && has_name(kAsking, word)) return true;
  return false;
}

}  // namespace

Verdict verdict_of(bool holds) { return holds ? Verdict::Yes : Verdict::No; }
Verdict inverted(Verdict verdict) {
  return verdict == Verdict::Yes ? Verdict::No : verdict == Verdict::No ? Verdict::Yes : Verdict::Unknown;
}

Verdict tested(std::vector<std::string> raw, ShellScope& scope) {
  for (const auto& [sign, decided] : {std::pair{"||", Verdict::Yes}, {"-o", Verdict::Yes}, {"&&", Verdict::No}, {"-a", Verdict::No}})
    if (const auto at = raw.begin() + static_cast<std::ptrdiff_t>(outside(raw, sign)); at != raw.end()) {
      const Verdict left = tested({raw.begin(), at}, scope), right = tested({at + 1, raw.end()}, scope);
      if (left == decided || right == decided) return decided;
      return left == Verdict::Unknown || right == Verdict::Unknown ? Verdict::Unknown : inverted(decided);
    }
  if (!raw.empty() && raw.front() == "!") return inverted(tested({raw.begin() + 1, raw.end()}, scope));
  if (raw.size() > 2 && (raw.front() == "(" || raw.front() == "\\(")) return tested({raw.begin() + 1, raw.end() - 1}, scope);
  const auto text = [&](std::size_t at) { return expanded_text(raw[at], scope); };
  if (raw.size() == 3) return compared(text(0), raw[1], text(2), scope);
  const bool asks_length = raw.size() == 2 && (raw[0] == "-z" || raw[0] == "-n");
  if (!asks_length && raw.size() != 1) return Verdict::Unknown;
  const std::string value = with_nothing_where_not_set(text(raw.size() - 1));
  if (!is_decided(value)) return Verdict::Unknown;
  return verdict_of(value.empty() == (asks_length && raw[0] == "-z"));
}

std::string deciding_variable(const std::string& condition, const ShellScope& scope) {
  if (asks_for_a_file(condition)) return "";
  for (std::size_t at = condition.find('$'); at != std::string::npos; at = condition.find('$', at + 1)) {
    const std::size_t begin = at + 1 + (condition.compare(at, 2, "${") == 0 ? 1 : 0);
    std::size_t end = begin;
    while (end < condition.size() && (std::isalnum(static_cast<unsigned char>(condition[end])) != 0 || condition[end] == '_')) ++end;
    const std::string name = condition.substr(begin, end - begin);
    if (name.empty() || scope.read.contains(name)) continue;
    const std::vector<std::string>* const value = scope.find(name);
    const std::vector<std::string> open = value == nullptr || value->empty() ? std::vector{name} : unknowns_in(value->front());
    if (!open.empty()) return open.front();
  }
  return "";
}

}  // namespace sim
