#include "cli/failure_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <vector>

#include "cli/launch.h"
#include "cli/process.h"

namespace cli {
namespace {

constexpr std::size_t kLastWords = 600;   // characters of each rank

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string words_file(const FailedRun& run, sim::Rank rank) { return fmt::format("{}/stderr.{}.txt", run.folder, rank.value()); }

// The heartbeat files are the worker's own format: it reads them to us.
std::string heartbeats(const FailedRun& run) {
  const std::string answer = run.folder + "/report.txt";
  Process worker({.command = {worker_path(), "report", "--out", run.folder, "--ranks", std::to_string(run.ranks)}, .environment = {},
                  .output_file = answer, .error_file = "/dev/null"});
  worker.wait_for(std::chrono::seconds(3));
  return contents(answer);
}

std::string last_words(const FailedRun& run) {
  std::string text;
  for (std::int32_t rank = 0; rank < run.ranks; ++rank) {
    const std::string words = contents(words_file(run, sim::Rank(rank)));
    if (!words.empty()) text += fmt::format("rank {} said last:\n{}\n", rank, words.substr(words.size() - std::min(words.size(), kLastWords)));
  }
  return text;
}

struct Pattern {
  const char* expression;   // two groups: rank, number
  const char* sentence;
};

}  // namespace

Cause cause_of(const std::string& mpirun_words) {
  static const Pattern patterns[] = {
      {R"(process rank (\d+)[^]*?exited\s+on\s+signal\s+(\d+))", "rank {} was ended by signal {}"},
      {R"(MPI_ABORT was invoked on rank (\d+)[^]*?errorcode\s+(\d+))", "rank {} gave up with exit code {}"},
      {R"(Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code:\s+(\d+))", "rank {} ended with exit code {}"},
  };
  std::smatch found;
  for (const Pattern& pattern : patterns) {
    if (!std::regex_search(mpirun_words, found, std::regex(pattern.expression))) continue;
    const bool by_signal = &pattern == patterns;
    const std::string name = by_signal ? fmt::format(" ({})", strsignal(std::stoi(found[2].str()))) : "";
    return {sim::Rank(std::stoi(found[1].str())), fmt::format(fmt::runtime(pattern.sentence), found[1].str(), found[2].str()) + name};
  }
  return {sim::Rank::none(), {}};
}

std::string failure_report(const FailedRun& run) {
  const std::string words = contents(run.folder + "/mpirun.txt");
  const Cause cause = cause_of(words);
  std::string text = fmt::format("error: the run failed: {}\n", cause.rank.exists() ? cause.text : fmt::format("mpirun ended with {}", run.status));
  text += heartbeats(run) + last_words(run);
  if (!cause.rank.exists()) text += words;
  return text + fmt::format("  remedy: mend the cause, then continue from the last checkpoint with --resume; everything said is in {}/", run.folder);
}

// The words of the rank that mpirun blames; of the first that gave a reason where it blames none.
std::string refusal(const FailedRun& run) {
  const std::string mpirun_words = contents(run.folder + "/mpirun.txt");
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
