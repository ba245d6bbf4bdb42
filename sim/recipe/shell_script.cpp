// Statements of a shell: lists, if, case, loops, functions, here-documents. A condition that the text does not decide leaves its branches in doubt:
// what is set there becomes an unknown named by the condition, and commands there say so.
#include "sim/recipe/shell_script.h"
#include "sim/recipe/shell_cursor.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace sim {
namespace {

enum class Mode { Follows, InDoubt, Skips };
using Words = std::vector<std::string>;

constexpr int kDeepestBlocks = 24, kMostStatements = 20'000;

Mode mode_of(Verdict verdict) { return verdict == Verdict::Yes ? Mode::Follows : verdict == Verdict::No ? Mode::Skips : Mode::InDoubt; }
Mode both(Mode outer, Mode inner) { return std::max(outer, inner); }
class ShellFollower : private ShellCursor {
 public:
  ShellFollower(std::string_view text, ShellScope& scope, ShellScript& script) : ShellCursor(text), scope_(scope), script_(script) {}

  void follow(Mode mode, int depth) {
    mode_ = mode;
    depth_ = depth;
    for (std::size_t before = at_; at_ < text_.size(); before = at_) {
      list({});
      if (at_ == before) ++at_;
    }
  }

 private:
  // Up to one of the words, which is taken; statements before it are followed.
  std::string list(std::initializer_list<std::string_view> ends) {
    Mode next = mode_;
    for (;;) {
      skip_blank();
      if (at_ >= text_.size()) return "";
      const std::string word = peek();
      if (std::find(ends.begin(), ends.end(), word) != ends.end()) return take(word);
      const Mode before = mode_;
      const std::size_t begin = at_;
      mode_ = both(mode_, next);
      const Verdict verdict = statement(word);
      mode_ = before;
      if (at_ == begin) ++at_;  // a bracket that closes nothing
      next = behind(verdict);
    }
  }

  // What `&&` and `||` make of the statement behind them.
  Mode behind(Verdict verdict) {
    skip_spaces();
    const bool is_and = text_.substr(at_).starts_with("&&"), is_or = text_.substr(at_).starts_with("||");
    if (is_and || is_or) at_ += 2;
    return is_and ? mode_of(verdict) : is_or ? mode_of(inverted(verdict)) : Mode::Follows;
  }

  Verdict statement(const std::string& word) {
    if (++scope_.statements > kMostStatements || depth_ > kDeepestBlocks)
      throw InputError(scope_.file, {{"", "has more statements, or deeper ones, than can be followed", "give the command as it is run"}});
    if (word == "if") return branches(take(word));
    if (word == "case") return cases(take(word));
    if (word == "for" || word == "select" || word == "while" || word == "until") return loop(take(word));
    if (word == "{") return block("{", "}");
    if (text_.substr(at_).starts_with("((")) return arithmetic_command();
    if (word == "(") return block("(", ")");
    if (word == "[[" || word == "[") return test_command(take(word));
    if (word == "!") return take(word), skip_spaces(), inverted(statement(peek()));
    if (word == "function") take(word), skip_spaces();
    return is_definition() || word == "function" ? define() : command();
  }

  Verdict block(const std::string& open, std::string_view close) {
    take(open);
    ++depth_;
    list({close});
    --depth_;
    skip_redirections();
    return Verdict::Unknown;
  }
  Verdict branches(const std::string&) {
    ++depth_;
    const Mode outer = mode_;
    const std::string outer_why = why_;
    Verdict taken = Verdict::No;  // by a branch before
    std::string end = "if";
    while (end == "if" || end == "elif" || end == "else") {
      const Verdict holds = end == "else" ? Verdict::Yes : condition("then");
      const Verdict here = taken == Verdict::No ? holds : taken == Verdict::Yes || holds == Verdict::No ? Verdict::No : Verdict::Unknown;
      mode_ = both(outer, mode_of(here));
      end = list({"elif", "else", "fi"});
      taken = taken == Verdict::Yes || here == Verdict::Yes ? Verdict::Yes : here == Verdict::Unknown ? Verdict::Unknown : taken;
      mode_ = outer;
    }
    why_ = outer_why;
    --depth_;
    return Verdict::Unknown;
  }
  static bool is_test(const std::string& word) {
    return word == "[" || word == "[[" || word == "(" || word == "test" || word == "!" || word == "true" || word == "false";
  }
  Verdict condition(std::string_view end) {
    Verdict verdict = Verdict::Unknown;
    skip_blank();
    for (std::string word = peek(); at_ < text_.size() && word != end; word = peek()) {
      const std::size_t begin = at_;
      const Verdict one = statement(word);
      verdict = is_test(word) ? one : Verdict::Unknown;
      if (verdict == Verdict::Unknown) why_ = std::string(text_.substr(begin, at_ - begin));
      skip_spaces();
      while (text_.substr(at_).starts_with("&&") || text_.substr(at_).starts_with("||")) {
        const bool is_and = text_[at_] == '&';
        at_ += 2;
        skip_blank();
        const bool tests = is_test(peek());
        const Verdict judged = statement(peek()), next = tests ? judged : Verdict::Unknown, decided = is_and ? Verdict::No : Verdict::Yes;
        verdict = verdict == decided || next == decided ? decided : verdict == Verdict::Unknown ? verdict : next;
        skip_spaces();
      }
      skip_blank();
    }
    take(std::string(end));
    return verdict;
  }
  Verdict loop(const std::string& kind) {
    ++depth_;
    const Mode outer = mode_;
    const std::string outer_why = why_;
    const bool counts = kind == "for" || kind == "select";
    Verdict runs = Verdict::Unknown;
    if (counts) {
      skip_spaces();
      const std::string name = peek();
      while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != ';') ++at_;
      why_ = name;
      mode_ = both(outer, Mode::InDoubt);
      if (outer == Mode::Follows) assign(name, {unknown_value(name)}, false);
      list({"do"});
    } else {
      runs = condition("do");
      if (kind == "until") runs = inverted(runs);
    }
    mode_ = both(outer, runs == Verdict::No ? Mode::Skips : Mode::InDoubt);
    list({"done"});
    mode_ = outer;
    why_ = outer_why;
    --depth_;
    skip_redirections();
    return Verdict::Unknown;
  }
  Verdict cases(const std::string&) {
    ++depth_;
    const Mode outer = mode_;
    skip_spaces();
    const std::string outer_why = why_, subject = expanded_text(take_word(), scope_);
    if (!unknowns_in(subject).empty()) why_ = shown(subject);
    skip_blank();
    take("in");
    Verdict taken = Verdict::No;
    for (skip_blank(); at_ < text_.size() && peek() != "esac"; skip_blank()) {
      const Verdict fits = unknowns_in(subject).empty() ? pattern_fits(subject) : (pattern_fits(subject), Verdict::Unknown);
      mode_ = both(outer, taken == Verdict::Yes ? Mode::Skips : mode_of(fits));
      if (fits == Verdict::Yes) taken = Verdict::Yes;
      while (at_ < text_.size() && !text_.substr(at_).starts_with(";;") && peek() != "esac") {
        statement_in_case();
        skip_blank_but_double();
      }
      if (text_.substr(at_).starts_with(";;")) at_ += 2;
      mode_ = outer;
    }
    take("esac");
    why_ = outer_why;
    --depth_;
    return Verdict::Unknown;
  }
  void statement_in_case() {
    const Verdict verdict = statement(peek());
    const Mode before = mode_;
    for (Mode next = behind(verdict); next != Mode::Follows; next = behind(verdict)) {
      skip_blank();
      mode_ = both(before, next);
      statement(peek());
      mode_ = before;
    }
  }
  Verdict pattern_fits(const std::string& subject) {
    const std::size_t end = std::min(text_.find(')', at_), text_.size());
    std::string patterns(text_.substr(at_, end - at_));
    at_ = std::min(end + 1, text_.size());
    bool fits = false;
    std::erase_if(patterns, [](char c) { return c == '(' || c == ' ' || c == '"' || c == '\'' || c == '\n'; });
    for (std::size_t begin = 0; begin <= patterns.size();) {
      const std::size_t bar = std::min(patterns.find('|', begin), patterns.size());
      fits = fits || fnmatch(patterns.substr(begin, bar - begin).c_str(), subject.c_str(), 0) == 0;
      begin = bar + 1;
    }
    return verdict_of(fits);
  }

  bool is_definition() const {
    std::size_t at = at_;
    while (at < text_.size() && (is_name_character(text_[at]) || text_[at] == '-')) ++at;
    if (at == at_) return false;
    while (at < text_.size() && text_[at] == ' ') ++at;
    return text_.substr(at).starts_with("()");
  }
  Verdict define() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_name_character(text_[at_]) || text_[at_] == '-')) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    skip_spaces();
    if (text_.substr(at_).starts_with("()")) at_ += 2;
    skip_blank();
    const std::size_t body = at_;
    const Mode outer = mode_;
    mode_ = Mode::Skips;
    if (at_ < text_.size()) statement(peek());
    mode_ = outer;
    if (mode_ != Mode::Skips && !name.empty()) functions_[name] = text_.substr(body, at_ - body);
    return Verdict::Yes;
  }

  Verdict test_command(const std::string& open) {
    Words raw;
    const std::string_view close = open == "[" ? "]" : "]]";
    for (skip_blank(); at_ < text_.size(); skip_blank()) {
      const std::size_t begin = at_;
      at_ = end_of_shell_word(text_, at_);
      if (at_ == begin) at_ += text_.substr(at_, 2) == "&&" || text_.substr(at_, 2) == "||" ? 2 : 1;
      raw.emplace_back(text_.substr(begin, at_ - begin));
      if (raw.back() == close) break;
    }
    if (!raw.empty()) raw.pop_back();
    return mode_ == Mode::Skips ? Verdict::Unknown : tested(raw, scope_);
  }
  Verdict arithmetic_command() {
    const std::size_t end = std::min(text_.find("))", at_), text_.size());
    const std::string inner(text_.substr(std::min(at_ + 2, end), end - std::min(at_ + 2, end)));
    at_ = std::min(end + 2, text_.size());
    if (mode_ == Mode::Skips) return Verdict::Unknown;
    const auto value = arithmetic(expanded_text(inner, scope_), scope_);
    return value ? verdict_of(*value != 0) : Verdict::Unknown;
  }

  // One command: its assignments, its words, what is redirected.
  Verdict command() {
    Words raw;
    std::string target;
    for (skip_spaces(); at_ < text_.size(); skip_spaces()) {
      const char c = text_[at_];
      if (c == '\n' || c == ';' || c == '|' || c == ')' || c == '#') break;
      if (c == '&' && !text_.substr(at_).starts_with("&>")) break;
      if ((c == '<' && end_of_placeholder(text_, at_) == at_) || c == '>' || c == '&') {
        redirect(raw, target);
        continue;
      }
      if (c == '(' && !raw.empty() && raw.back().ends_with("=")) {
        raw.back() += take_array();
        continue;
      }
      const std::size_t begin = at_;
      at_ = end_of_shell_word(text_, at_);
      if (at_ == begin) ++at_;  // a bracket in a strange place
      raw.emplace_back(text_.substr(begin, at_ - begin));
    }
    skip_comment();
    take_documents(target);
    return mode_ == Mode::Skips ? Verdict::Unknown : perform(raw);
  }
  std::string take_array() {
    const std::size_t begin = at_;
    for (++at_; at_ < text_.size() && text_[at_] != ')';) {
      skip_blank();
      const std::size_t word = at_;
      at_ = end_of_shell_word(text_, at_);
      if (at_ == word && at_ < text_.size() && text_[at_] != ')') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
    return std::string(text_.substr(begin, at_ - begin));
  }
  void redirect(Words& raw, std::string& target) {
    if (!raw.empty() && raw.back().size() == 1 && std::isdigit(static_cast<unsigned char>(raw.back()[0])) != 0 &&
        text_[at_ - 1] == raw.back()[0])
      raw.pop_back();  // the 2 of 2>&1
    const bool is_document = text_.substr(at_).starts_with("<<") && !text_.substr(at_).starts_with("<<<");
    const bool is_output = text_[at_] == '>';
    while (at_ < text_.size() && std::string_view("<>&-|").find(text_[at_]) != std::string_view::npos) ++at_;
    skip_spaces();
    if (text_.substr(at_).starts_with("(")) return static_cast<void>(take_array());  // <(command)
    const std::string word = take_word();
    if (is_document) documents_.push_back(word);
    if (is_output && mode_ != Mode::Skips) target = expanded_text(word, scope_);
  }
  void skip_redirections() {
    skip_spaces();
    Words raw;
    std::string target;
    while (at_ < text_.size() && (text_[at_] == '<' || text_[at_] == '>' || text_.substr(at_).starts_with("&>")))
      redirect(raw, target), skip_spaces();
  }
  void take_documents(const std::string& target) {
    for (const std::string& word : std::exchange(documents_, {})) {
      std::string end = word;
      std::erase_if(end, [](char c) { return c == '"' || c == '\'' || c == '\\'; });
      const std::size_t line = text_.find('\n', at_);
      std::string body;
      std::size_t at = line == std::string_view::npos ? text_.size() : line + 1;
      while (at < text_.size()) {
        const std::size_t close = std::min(text_.find('\n', at), text_.size());
        std::string_view row = text_.substr(at, close - at);
        at = std::min(close + 1, text_.size());
        while (!row.empty() && row.front() == '\t') row.remove_prefix(1);
        if (row == end) break;
        body += std::string(row) + "\n";
      }
      if (!target.empty()) script_.documents[target] = end == word ? expanded_document(body, scope_) : body;
      at_ = at > 0 ? at - 1 : at;
    }
  }

  static std::size_t assignment_in(const std::string& raw) {  // where its = stands; npos: it is none
    std::size_t at = 0;
    while (at < raw.size() && is_name_character(raw[at])) ++at;
    if (at == 0 || std::isdigit(static_cast<unsigned char>(raw[0])) != 0) return std::string::npos;
    if (at < raw.size() && raw[at] == '+') ++at;
    return at < raw.size() && raw[at] == '=' ? at : std::string::npos;
  }
  void assign_raw(const std::string& raw, std::size_t equals) {
    const bool adds = raw[equals - 1] == '+';
    const std::string name = raw.substr(0, equals - (adds ? 1 : 0)), value = raw.substr(equals + 1);
    if (!value.starts_with("(")) return assign(name, {expanded_text(value, scope_)}, adds);
    Words values;
    const std::string_view inner = std::string_view(value).substr(1, value.size() - 2);
    for (std::size_t at = 0; at < inner.size();) {
      if (std::isspace(static_cast<unsigned char>(inner[at])) != 0) {
        ++at;
      } else if (inner[at] == '#') {
        at = std::min(inner.find('\n', at), inner.size());
      } else if (inner.substr(at).starts_with("\\\n")) {
        at += 2;
      } else {
        const std::size_t end = std::max(end_of_shell_word(inner, at), at + 1);
        for (std::string& word : expanded_words(inner.substr(at, end - at), scope_)) values.push_back(std::move(word));
        at = end;
      }
    }
    assign(name, values, adds, true);
  }
  void assign(const std::string& name, Words values, bool adds, bool is_list = false) {
    const Words* const before = scope_.find(name);
    Words now = adds && before != nullptr ? *before : Words{};
    if (mode_ == Mode::InDoubt && before != nullptr && !adds && *before == values) return;
    if (mode_ == Mode::InDoubt) {  // what may be added stands twice: behind an option's value it is seen to be more than that
      const std::string open = unknown_value(deciding_variable(why_, scope_));
      values = {adds ? (is_list ? "" : " ") + open + " " + open : open};
    }
    if (!adds || is_list || now.empty())
      now.insert(now.end(), values.begin(), values.end());
    else
      now.front() += values.empty() ? "" : values.front();
    std::size_t size = 0;
    for (const std::string& value : now) size += value.size();
    if (size > static_cast<std::size_t>(kLargestRecipe.value()))
      throw InputError(scope_.file, {{name, "grows beyond 1 MiB", "give the command as it is run"}});
    scope_.set(name, std::move(now));
  }
  Verdict perform(const Words& raw) {
    std::size_t first = 0;
    constexpr std::string_view kDeclaring[] = {"export", "declare", "local", "readonly", "typeset"};
    const bool declares = !raw.empty() && std::find(std::begin(kDeclaring), std::end(kDeclaring), raw[0]) != std::end(kDeclaring);
    if (declares) ++first;
    for (; first < raw.size(); ++first) {
      const std::size_t equals = assignment_in(raw[first]);
      if (equals != std::string::npos)
        assign_raw(raw[first], equals);
      else if (!declares)
        break;
    }
    if (first >= raw.size() || declares) return Verdict::Yes;
    return run({raw.begin() + static_cast<std::ptrdiff_t>(first), raw.end()});
  }
  Verdict run(const Words& raw) {
    Words words;
    for (const std::string& one : raw)
      for (std::string& word : expanded_words(one, scope_)) words.push_back(std::move(word));
    if (words.empty()) return Verdict::Yes;  // a command is taken to succeed
    const std::string& name = words.front();
    if (name == "true" || name == ":") return Verdict::Yes;
    if (name == "false") return Verdict::No;
    if (name == "test") return tested({raw.begin() + 1, raw.end()}, scope_);
    if (const auto found = functions_.find(name); found != functions_.end()) return call(found->second, words);
    if (name == "unset")
      for (std::size_t at = 1; at < words.size(); ++at) assign(words[at], {""}, false);
    if (name == "eval") return nested(Words(words.begin() + 1, words.end()));
    constexpr std::string_view kTalking[] = {"echo", "printf", "exit", "return", "unset"};
    if (std::find(std::begin(kTalking), std::end(kTalking), name) != std::end(kTalking)) return Verdict::Yes;
    for (std::size_t at = 1; at < words.size(); ++at)  // bash -c "...", srun "...": a command in a word
      if (words[at].find_first_of(" \n\t") != std::string::npos && words[at].find(" --") != std::string::npos &&
          !words[at].starts_with("--") && !words[at - 1].starts_with("--"))
        nested({words[at]});
    script_.commands.push_back({std::move(words), mode_ == Mode::InDoubt});
    return Verdict::Yes;
  }
  Verdict nested(const Words& words) {
    std::string text;
    for (const std::string& word : words) text += word + " ";
    ShellFollower inner(text, scope_, script_);
    inner.functions_ = functions_;
    inner.why_ = why_;
    inner.follow(mode_, depth_ + 1);
    return Verdict::Yes;
  }
  Verdict call(const std::string& body, const Words& words) {
    const auto outer = scope_.variables;
    for (std::size_t at = 1; at < words.size(); ++at) scope_.set(std::to_string(at), {words[at]});
    nested({body});
    for (std::size_t at = 1; at < words.size(); ++at) {
      const auto before = outer.find(std::to_string(at));
      if (before == outer.end())
        scope_.variables.erase(std::to_string(at));
      else
        scope_.variables[std::to_string(at)] = before->second;
    }
    return Verdict::Yes;
  }

  ShellScope& scope_;
  ShellScript& script_;
  Mode mode_ = Mode::Follows;
  int depth_ = 0;
  std::string why_;  // the innermost condition that is not decided
  Words documents_;  // that begin behind this line
  std::map<std::string, std::string> functions_;
};

}  // namespace

ShellScript follow_shell(std::string_view text, const std::string& file, const Texts& given) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == '\r' || c == kUnknownBegin || c == kUnknownEnd; });
  ShellScope scope{.variables = {}, .given = given, .file = file};
  for (const auto& [name, value] : given) scope.variables[name] = {value};
  ShellScript script;
  ShellFollower(plain, scope, script).follow(Mode::Follows, 0);
  return script;
}

}  // namespace sim
