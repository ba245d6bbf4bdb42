// Statements of a shell: lists, if, case, loops, functions, here-documents. A condition that the text does not decide leaves its branches in doubt:
// what is set there becomes an unknown named by the condition, and commands there say so.
#include "sim/recipe/shell_script.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "sim/recipe/launch_size.h"
#include "sim/recipe/shell_arguments.h"
#include "sim/recipe/shell_command.h"
#include "sim/recipe/shell_print.h"

namespace sim {
namespace {

enum class Mode { Follows, InDoubt, Skips };
using Words = std::vector<std::string>;

constexpr std::size_t kMostRoundsOfLists = 64;  // one list in another
constexpr int kDeepestBlocks = 24, kMostStatements = 20'000, kMostRounds = 200, kDeepestScripts = 8;

Mode mode_of(Verdict verdict) { return verdict == Verdict::Yes ? Mode::Follows : verdict == Verdict::No ? Mode::Skips : Mode::InDoubt; }
Mode both(Mode outer, Mode inner) { return std::max(outer, inner); }
class ShellFollower : private ShellCommandCursor {
 public:
  ShellFollower(std::string_view text, ShellScope& scope, ShellScript& script, const OtherScript& other)
      : ShellCommandCursor(text), scope_(scope), script_(script), other_(other) {}

  void follow(Mode mode, int depth) {
    mode_ = mode;
    depth_ = depth;
    const auto outer = std::exchange(scope_.printed, [this](const std::string& command) { return printed_by(command); });
    for (std::size_t before = at_; at_ < text_.size(); before = at_) {
      list({});
      if (at_ == before) ++at_;
    }
    scope_.printed = outer;
    if (depth == 0 && script_.commands.empty())
      for (const auto& [name, body] : functions_) script_.uncalled.push_back(name);
  }

 private:
  // Of `a && b || c`: what the next does, the verdict so far, and the statement that left it open.
  struct Chain {
    Mode next = Mode::Follows;
    Verdict verdict = Verdict::Unknown;
    std::string why{};
  };
  void follow_one(Chain& chain, const std::string& word) {
    const Mode before = mode_;
    const std::string outer_why = why_;
    const std::size_t begin = at_;
    if (chain.next == Mode::InDoubt) why_ = chain.why;
    mode_ = both(mode_, chain.next);
    const Verdict own = statement(word);
    if (chain.next != Mode::Skips) chain.verdict = chain.next == Mode::InDoubt ? Verdict::Unknown : own;
    mode_ = before;
    why_ = outer_why;
    if (at_ == begin) ++at_;  // a bracket that closes nothing
    if (chain.next != Mode::InDoubt) chain.why = std::string(text_.substr(begin, at_ - begin));
    chain.next = behind(chain.verdict);
  }
  // Up to one of the words, which is taken; statements before it are followed.
  std::string list(std::initializer_list<std::string_view> ends) {
    for (Chain chain;;) {
      skip_blank();
      if (at_ >= text_.size()) return "";
      const std::string word = peek();
      if (std::find(ends.begin(), ends.end(), word) != ends.end()) return take(word);
      follow_one(chain, word);
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
    if (word == "(") return subshell();
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
  Verdict subshell() {  // what is set there ends with it
    const auto outer = scope_.variables;
    block("(", ")");
    return scope_.variables = outer, Verdict::Unknown;
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
      take(name);
      const std::optional<Words> words = words_of_loop();
      if (words && outer == Mode::Follows && rounds_ * words->size() <= kMostRoundsOfLists) return each_of(name, *words);
      while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != ';') ++at_;
      why_ = "$" + name;
      mode_ = both(outer, Mode::InDoubt);
      if (outer == Mode::Follows) assign(name, {unknown_value(name)}, false);
      list({"do"});
    } else {
      runs = rounds(kind == "until", outer);
    }
    mode_ = both(outer, runs == Verdict::No ? Mode::Skips : Mode::InDoubt);
    list({"done"});
    mode_ = outer;
    why_ = outer_why;
    --depth_;
    skip_redirections();
    return Verdict::Unknown;
  }
  // Behind `for name`: the words that it goes through. None: the text does not say them all.
  std::optional<Words> words_of_loop() {
    skip_spaces();
    if (peek() != "in") return std::nullopt;
    take("in");
    const Words words = expanded(take_line());
    const auto is_open = [](const std::string& word) {
      return !unknowns_in(word).empty() || word.find_first_of("*?{[") != std::string::npos;
    };
    return std::ranges::any_of(words, is_open) ? std::nullopt : std::optional(words);
  }
  // What a round adds to a variable adds up. Of several words none is meant more than another: they are asked for by the variable's name.
  Verdict each_of(const std::string& name, const Words& words) {
    list({"do"});
    const std::size_t body = at_, outer_rounds = rounds_;
    rounds_ *= std::max<std::size_t>(words.size(), 1);
    const Mode outer = mode_;
    if (words.empty()) mode_ = Mode::Skips;
    for (std::size_t round = 0; round < std::max<std::size_t>(words.size(), 1) && !std::exchange(is_broken_, false); ++round) {
      at_ = body;
      assign(name, {words.size() == 1 ? words.front() : unknown_value(name)}, false);
      list({"done"});
    }
    mode_ = outer;
    rounds_ = outer_rounds;
    --depth_;
    skip_redirections();
    return Verdict::Unknown;
  }
  // Rounds that arguments decide, which each takes some of, are followed one after another; what is left of the loop is for whoever calls.
  Verdict rounds(bool is_until, Mode outer) {
    const std::size_t begin = at_;
    for (int round = 0;; ++round) {
      at_ = begin;
      const Words before = arguments_of(scope_);
      const std::string place = place_of_options(scope_);
      const Verdict holds = condition("do"), runs = is_until ? inverted(holds) : holds;
      const std::size_t body = at_;
      if (runs != Verdict::Yes || outer != Mode::Follows || before.empty() || round == kMostRounds) return runs;
      list({"done"});
      if (std::exchange(is_broken_, false)) return at_ = body, Verdict::No;
      if (before == arguments_of(scope_) && place == place_of_options(scope_)) return at_ = body, Verdict::Unknown;
    }
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
      skip_blank_but_double();
      while (at_ < text_.size() && !text_.substr(at_).starts_with(";;") && peek() != "esac") {
        Chain chain;
        for (follow_one(chain, peek()); chain.next != Mode::Follows; follow_one(chain, peek())) skip_blank();
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
  Verdict pattern_fits(const std::string& subject) {
    const std::size_t end = std::min(text_.find(')', at_), text_.size());
    const std::string patterns(text_.substr(at_, end - at_));
    at_ = std::min(end + 1, text_.size());
    return verdict_of(fits_a_pattern(subject, patterns));
  }

  Verdict define() {
    const std::string name = take_function_name();
    skip_blank();
    const std::size_t body = at_;
    const Mode outer = std::exchange(mode_, Mode::Skips);
    if (at_ < text_.size()) statement(peek());
    mode_ = outer;
    if (mode_ != Mode::Skips && !name.empty()) functions_[name] = text_.substr(body, at_ - body);
    return Verdict::Yes;
  }

  // One that no bracket closes fails.
  Verdict test_command(const std::string& open) {
    const std::optional<Words> raw = take_test(open == "[" ? "]" : "]]");
    return mode_ == Mode::Skips ? Verdict::Unknown : raw ? tested(*raw, scope_) : Verdict::No;
  }
  Verdict arithmetic_command() {
    const std::string inner = take_arithmetic();
    return mode_ == Mode::Skips ? Verdict::Unknown : counted(expanded_text(inner, scope_));
  }
  // `N++`, `N = 4`, `N > 4`: of ((...)) and of let.
  Verdict counted(const std::string& formula) {
    const auto change = change_in(formula, scope_);
    if (change) assign(change->name, {change->after ? std::to_string(*change->after) : unknown_value(change->name)}, false);
    const auto value = change ? change->value : arithmetic(formula, scope_);
    return value ? verdict_of(*value != 0) : Verdict::Unknown;
  }

  // One command: its assignments, its words, what is redirected.
  Verdict command() {
    const RawCommand raw = take_command();
    if (mode_ == Mode::Skips) return Verdict::Unknown;
    script_.is_cut = script_.is_cut || raw.is_cut;
    const std::string target = raw.target.empty() ? "" : expanded_text(raw.target, scope_);
    for (const auto& document : raw.documents)
      if (!target.empty()) script_.documents[target] = text_of(document);
    if (target.empty() && raw.documents.size() == 1)
      if (const std::optional<Verdict> taken = give_document(raw, text_of(raw.documents.front()))) return *taken;
    return perform(raw.words);
  }
  // A command that starts the document, sets a variable to it, or shows it to whoever does so.
  std::optional<Verdict> give_document(const RawCommand& raw, const std::string& text) {
    const bool shows = raw.words.size() == 1 && raw.words.front() == "cat";
    const Words& starter = shows ? raw.piped : raw.words;
    if (takes_a_script(starter)) {
      const Words words = expanded(starter);
      return start(text, words, words.size(), {});
    }
    if (shows && print_ != nullptr) return print_->add(text, mode_ == Mode::InDoubt), Verdict::Yes;
    const auto reads = std::ranges::find(raw.words, "read");
    if (reads == raw.words.end() || std::find(reads, raw.words.end(), "-d") == raw.words.end()) return std::nullopt;
    return assign(raw.words.back(), {text}, false), Verdict::Yes;
  }
  std::string text_of(const std::pair<std::string, std::string>& document) const {
    const bool is_quoted = document.first.find_first_of("\"'\\") != std::string::npos;
    return is_quoted ? document.second : expanded_document(document.second, scope_);
  }
  void assign_raw(const std::string& raw, std::size_t equals) {
    const bool adds = raw[equals - 1] == '+';
    const std::string name = raw.substr(0, equals - (adds ? 1 : 0)), value = raw.substr(equals + 1);
    if (!value.starts_with("(")) return assign(name, {named_output(name, expanded_text(value, scope_))}, adds);
    Words values;
    for (const std::string_view word : words_of_list(std::string_view(value).substr(1, value.size() - 2)))
      for (std::string& one : expanded_words(word, scope_)) values.push_back(std::move(one));
    assign(name, values, adds, true);
  }
  void assign(const std::string& name, Words values, bool adds, bool is_list = false) {
    const Words* const before = scope_.find(name);
    if (mode_ == Mode::InDoubt && before != nullptr && !adds && *before == values) return;
    adds = adds || (mode_ == Mode::InDoubt && before != nullptr && wraps(values, *before));
    if (mode_ == Mode::InDoubt) {  // what may be added stands twice: behind an option's value it is seen to be more than that
      const std::string decides = deciding_variable(why_, scope_), open = unknown_value(decides.empty() ? name : decides);
      values = {adds ? (is_list ? "" : " ") + open + " " + open : open};
    }
    Words now = added_to(adds && before != nullptr ? *before : Words{}, std::move(values), adds, is_list);
    if (letters_in(now) > static_cast<std::size_t>(kLargestRecipe.value()))
      throw InputError(scope_.file, {{name, "grows beyond 1 MiB", "give the command as it is run"}});
    scope_.set(name, std::move(now));
  }
  Verdict perform(const Words& raw) {
    if (raw.empty()) return Verdict::Yes;  // a redirection alone
    const auto first = raw.begin() + (declares_variables(raw) ? 1 : 0);
    const auto is_command = [](const std::string& word) { return assignment_in(word) == std::string::npos; };
    const auto behind = first == raw.begin() ? std::find_if(first, raw.end(), is_command) : raw.end();
    const Words variables(first, behind);
    if (behind != raw.end()) return with_variables(variables, {behind, raw.end()});
    const std::set<std::string> named = assigned_names(variables);
    if (raw.front() == "export") scope_.exported.insert(named.begin(), named.end());
    if (raw.front() == "local") scope_.of_caller.merge(scope_.kept(named));
    assign_each(variables);
    return Verdict::Yes;
  }
  // Variables in front of a command are set for it alone, and its own words are expanded before.
  Verdict with_variables(const Words& variables, const Words& raw) {
    Words words = expanded(raw);
    const std::set<std::string> named = assigned_names(variables);
    const auto before = scope_.kept(named);
    assign_each(variables);
    const Verdict verdict = run(raw, std::move(words), named);
    scope_.give_back(before);
    return verdict;
  }
  void assign_each(const Words& variables) {
    for (const std::string& one : variables)
      if (const std::size_t equals = assignment_in(one); equals != std::string::npos) assign_raw(one, equals);
  }
  Verdict run(const Words& raw, Words words, const std::set<std::string>& named) {
    if (words.empty()) return Verdict::Yes;  // a command is taken to succeed
    const std::string& name = words.front();
    if (name == "true" || name == ":" || (script_.is_cut && name.starts_with("--"))) return Verdict::Yes;  // an option that was cut off
    if (name == "false") return Verdict::No;
    if (mode_ == Mode::Follows && depth_ == 0 && ends_well(words)) return at_ = text_.size(), Verdict::Yes;
    if (name == "break") return if_followed([&] { return is_broken_ = true, Verdict::Yes; });
    if (name == "test") return tested({raw.begin() + 1, raw.end()}, scope_);
    for (std::size_t at = 1; name == "let" && at < words.size(); ++at)
      if (const Verdict verdict = counted(words[at]); at + 1 == words.size()) return verdict;
    for (const std::string& read : names_that_are_read(words)) assign(read, {unknown_value(read)}, false), scope_.read.insert(read);
    if (const auto found = functions_.find(name); found != functions_.end()) return call(found->second, words);
    if (name == "shift") return if_followed([&] { return shift_arguments(scope_, words.size() > 1 ? words[1] : "1"); });
    if (name == "set" && words.size() > 1 && words[1] == "--")
      return if_followed([&] { return set_arguments(scope_, {words.begin() + 2, words.end()}), Verdict::Yes; });
    if (name == "getopts" && words.size() > 2) return if_followed([&] { return next_option(scope_, words[1], words[2]); });
    if (const std::optional<Verdict> there = other_script(words, named)) return *there;
    if (name == "unset")
      for (std::size_t at = 1; at < words.size(); ++at) assign(words[at], {}, false);
    if (name == "eval") return nested(Words(words.begin() + 1, words.end()));
    if (print_ != nullptr) return print_->take(words, mode_ == Mode::InDoubt), Verdict::Yes;
    if (starts_nothing(name)) return Verdict::Yes;
    for (std::size_t at = 1; at < words.size(); ++at)  // bash -c "...", srun "...": a command in a word
      if (holds_a_command(words[at]) && !takes_next(words[at - 1])) nested({words[at]});
    ShellCommand command{std::move(words), mode_ == Mode::InDoubt, "", environment_in(scope_, named), scope_.head, ""};
    if (command.is_in_doubt) command.decided_by = deciding_variable(why_, scope_), command.condition = why_;
    const auto is_again = [&](const ShellCommand& one) { return one.words == command.words && one.is_in_doubt == command.is_in_doubt; };
    if (rounds_ == 1 || std::ranges::none_of(script_.commands, is_again)) script_.commands.push_back(std::move(command));
    return Verdict::Yes;
  }
  std::optional<std::string> printed_by(const std::string& command) {
    if (mode_ != Mode::Follows || !may_be_printed(command, functions_)) return std::nullopt;
    const auto outer = scope_.variables;  // what it sets is its own
    ShellPrint shown;
    ShellFollower inner(command, scope_, script_, other_);
    inner.functions_ = functions_;
    inner.print_ = &shown;
    inner.follow(Mode::Follows, depth_ + 1);
    scope_.variables = outer;
    return std::move(shown).text();
  }
  Words expanded(const Words& raw) {
    Words words;
    for (const std::string& one : raw)
      for (std::string& word : expanded_words(one, scope_)) words.push_back(std::move(word));
    return words;
  }
  // Arguments change where the text decides that they do.
  template <class Change>
  Verdict if_followed(const Change& change) {
    return mode_ == Mode::Follows ? change() : Verdict::Unknown;
  }
  // One that is started sees what is exported, and its own arguments alone; a job, what Slurm sets by its head and by sbatch's options above it.
  Verdict start(const std::string& text, const Words& words, std::size_t at, const std::set<std::string>& named) {
    const auto outer = scope_.variables;
    const std::string outer_head = scope_.head;
    std::erase_if(scope_.variables, [&](const auto& one) {
      return !scope_.exported.contains(one.first) && !named.contains(one.first) && !scope_.given.contains(one.first);
    });
    if (words.front() == "sbatch") {
      scope_.head = lines_of_head(text) + "#SBATCH";
      for (std::size_t option = 1; option < at; ++option) scope_.head += " " + words[option];
      for (const auto& [name, value] : variables_of_job(job_head(scope_.head))) scope_.set(name, {value});
    }
    const auto passed = words.begin() + static_cast<std::ptrdiff_t>(std::min(at + 1, words.size()));
    set_arguments(scope_, {passed, words.end()});
    nested({text});
    scope_.variables = outer;
    scope_.head = outer_head;
    return Verdict::Yes;
  }
  // `source env.sh`, `bash -x other.sh 4`, `./other.sh`.
  std::optional<Verdict> other_script(const Words& words, const std::set<std::string>& named) {
    const bool is_sourced = words[0] == "source" || words[0] == ".";
    const std::size_t at = place_of_script(words, [&](const std::string& word) { return written(script_.documents, word) != nullptr; });
    if (depth_ > kDeepestScripts || at >= words.size()) return std::nullopt;
    const std::string* const here = written(script_.documents, words[at]);
    if (!is_sourced && !(here != nullptr && words[0] == "sbatch") && !words[at].ends_with(".sh")) return std::nullopt;
    const std::size_t folder = words[at].rfind(kUnknownEnd);  // "$HERE/../common.sh": its name is known
    const std::string place = folder == std::string::npos ? words[at] : words[at].substr(folder + 1);
    if (folder != std::string::npos && !place.starts_with("/")) return std::nullopt;
    if (!other_ && here == nullptr) return std::nullopt;
    const std::optional<std::string> text = here != nullptr ? std::optional(*here) : other_(place);
    if (!text && is_sourced && (place.size() == words[at].size() || place.ends_with(".sh"))) script_.missing.push_back(words[at]);
    if (!text) return std::nullopt;
    return is_sourced ? nested({*text}) : start(*text, words, at, named);
  }
  Verdict nested(const Words& words) {
    std::string text;
    for (const std::string& word : words) text += word + " ";
    ShellFollower inner(text, scope_, script_, other_);
    inner.functions_ = functions_;
    inner.why_ = why_;
    inner.print_ = print_;
    inner.follow(mode_, depth_ + 1);
    functions_ = std::move(inner.functions_);
    return Verdict::Yes;
  }
  Verdict call(const std::string& body, const Words& words) {
    const Words outer = arguments_of(scope_);
    const auto of_caller = std::exchange(scope_.of_caller, {});
    set_arguments(scope_, {words.begin() + 1, words.end()});
    nested({body});
    set_arguments(scope_, outer);
    scope_.give_back(std::exchange(scope_.of_caller, of_caller));
    return Verdict::Yes;
  }

  ShellScope& scope_;
  ShellScript& script_;
  const OtherScript& other_;
  Mode mode_ = Mode::Follows;
  int depth_ = 0;
  bool is_broken_ = false;       // the loop that is followed
  std::size_t rounds_ = 1;       // of the loops over lists around
  std::string why_;              // the innermost condition that is not decided
  ShellPrint* print_ = nullptr;  // where $(...) is followed
  std::map<std::string, std::string> functions_;
};

}  // namespace

ShellScript follow_shell(std::string_view text, const std::string& file, const Texts& given, const OtherScript& other) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == '\r' || c == kUnknownBegin || c == kUnknownEnd; });
  ShellScope scope{.variables = {}, .given = given, .file = file};
  for (const auto& [name, value] : given) scope.variables[name] = {value};
  ShellScript script;
  ShellFollower(plain, scope, script, other).follow(Mode::Follows, 0);
  if (std::vector<std::string> words = script.commands.empty() ? options_of_variables(scope) : Words{}; !words.empty())
    script.commands.push_back({std::move(words)}), script.has_no_command = true, script.unused = unused_in(plain, scope);
  return script;
}

}  // namespace sim
