#include "cli/failure_report.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "cli/launch.h"
#include "cli/process.h"

namespace cli {
namespace {

constexpr std::size_t kLastWords = 600;   // characters of each rank

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

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
    const std::string words = contents(fmt::format("{}/stderr.{}.txt", run.folder, rank));
    if (!words.empty()) text += fmt::format("rank {} said last:\n{}\n", rank, words.substr(words.size() - std::min(words.size(), kLastWords)));
  }
  return text;
}

}  // namespace

std::string cause_text(const std::string& words) {
  std::smatch found;
  if (std::regex_search(words, found, std::regex(R"(process rank (\d+)[^]*?exited\s+on\s+signal\s+(\d+))")))
    return fmt::format("rank {} was ended by signal {} ({})", found[1].str(), found[2].str(), strsignal(std::stoi(found[2].str())));
  if (std::regex_search(words, found, std::regex(R"(Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code:\s+(\d+))")))
    return fmt::format("rank {} ended with exit code {}", found[1].str(), found[2].str());
  return {};
}

std::string failure_report(const FailedRun& run) {
  const std::string words = contents(run.folder + "/mpirun.txt");
  const std::string cause = cause_text(words);
  std::string text = fmt::format("error: the run failed: {}\n", cause.empty() ? fmt::format("mpirun ended with {}", run.status) : cause);
  text += heartbeats(run) + last_words(run);
  if (cause.empty()) text += words;
  return text + fmt::format("  remedy: mend the cause, then continue from the last checkpoint with --resume; everything said is in {}/", run.folder);
}

}  // namespace cli
