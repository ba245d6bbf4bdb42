#include "cli/failure_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/restart.h"
#include "sim/task_graph/heartbeat_file.h"

namespace cli {
namespace {

constexpr std::size_t kLastWords = 600;  // characters of each rank

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string words_file(const FailedRun& run, sim::Rank rank) { return fmt::format("{}/stderr.{}.txt", run.folder, rank.value()); }

std::string heartbeats(const FailedRun& run) {
  std::string text;
  for (sim::Rank rank{0}; rank.value() < run.ranks; ++rank) text += sim::heartbeat_text(run.folder, rank) + "\n";
  return text;
}

std::string last_words(const FailedRun& run) {
  std::string text;
  for (std::int32_t rank = 0; rank < run.ranks; ++rank) {
    const std::string words = contents(words_file(run, sim::Rank(rank)));
    if (!words.empty())
      text += fmt::format("rank {} said last:\n{}\n", rank, words.substr(words.size() - std::min(words.size(), kLastWords)));
  }
  return text;
}

struct Pattern {
  std::array<std::string_view, 2> to_rank;  // one after the other; behind the second stands the rank
  std::string_view to_number;
  const char* sentence;
  bool is_signal = false;
};

constexpr std::array kPatterns = std::to_array<Pattern>({
    {{"", "process rank "}, "exited on signal ", "rank {} was ended by signal {} ({})", true},
    {{"", "MPI_ABORT was invoked on rank "}, "errorcode ", "rank {} gave up with exit code {}"},
    {{"Process name: [[", "],"}, "Exit code: ", "rank {} ended with exit code {}"},
});

// mpirun breaks its lines where they are full.
std::string on_one_line(const std::string& words) {
  std::string line;
  for (const char c : words)
    if (std::isspace(static_cast<unsigned char>(c)) == 0)
      line += c;
    else if (!line.ends_with(' '))
      line += ' ';
  return line;
}

// Goes on behind `what`: false where it does not come any more.
bool skip_to(std::string_view& text, std::string_view what) {
  const std::size_t at = text.find(what);
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at + what.size());
  return true;
}

std::optional<int> number_at(std::string_view text) {
  int value = 0;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{} ? std::optional(value) : std::nullopt;
}

std::optional<Cause> cause_by(const Pattern& pattern, std::string_view words) {
  if (!skip_to(words, pattern.to_rank[0]) || !skip_to(words, pattern.to_rank[1])) return std::nullopt;
  const std::optional<int> rank = number_at(words);
  if (!rank || !skip_to(words, pattern.to_number)) return std::nullopt;
  const std::optional<int> number = number_at(words);
  if (!number) return std::nullopt;
  return Cause{sim::Rank(*rank), fmt::format(fmt::runtime(pattern.sentence), *rank, *number, pattern.is_signal ? strsignal(*number) : "")};
}

}  // namespace

Cause cause_of(const std::string& mpirun_words) {
  const std::string line = on_one_line(mpirun_words);
  for (const Pattern& pattern : kPatterns)
    if (std::optional<Cause> cause = cause_by(pattern, line)) return *std::move(cause);
  return {sim::Rank::none(), {}};
}

std::string failure_report(const FailedRun& run) {
  const std::string words = contents(run.folder + "/mpirun.txt");
  const Cause cause = cause_of(words);
  std::string text =
      fmt::format("error: the run failed: {}\n", cause.rank.exists() ? cause.text : fmt::format("mpirun ended with {}", run.status));
  text += heartbeats(run) + last_words(run);
  if (!cause.rank.exists()) text += words;
  const std::string how = restart_point(run.folder).from > 0 ? "continue from the last checkpoint with --resume"
                                                             : "start again without --resume: there is no checkpoint yet";
  return text + fmt::format("  remedy: mend the cause, then {}; everything said is in {}/", how, run.folder);
}

int refused_by_worker(const std::string& file, int status, const Console& console) {
  const int code = status == kUsage || status == kInputError ? status : kInternal;
  if (console.form() == Form::Json)
    console.result("", [&] { return error_document(file, {{"", "meshwright-worker refused it, and says why on stderr", ""}}, code); });
  return code;
}

// The words of the rank that mpirun blames; of the first that gave a reason where it blames none.
std::string refusal(const FailedRun& run) {
  std::string mpirun_words = contents(run.folder + "/mpirun.txt");
  std::vector<sim::Rank> ranks;
  if (const Cause cause = cause_of(mpirun_words); cause.rank.exists()) ranks.push_back(cause.rank);
  for (std::int32_t rank = 0; rank < run.ranks; ++rank) ranks.emplace_back(rank);
  for (const sim::Rank rank : ranks) {
    const std::string words = contents(words_file(run, rank));
    if (const std::size_t last = words.rfind("error: "); last != std::string::npos) return words.substr(last);
  }
  return mpirun_words;
}

}  // namespace cli
