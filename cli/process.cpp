#include "cli/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <thread>

namespace cli {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> result = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(added.begin(), added.end(), [&](const std::string& own) { return own.compare(0, name.size(), name) == 0; });
    if (!replaced) result.push_back(text);
  }
  return result;
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void redirect(int descriptor, const std::string& file) {
    if (!file.empty()) posix_spawn_file_actions_addopen(&actions_, descriptor, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Process::Process(const ProcessRequest& request) {
  FileActions files;
  files.redirect(STDOUT_FILENO, request.output_file);
  files.redirect(STDERR_FILENO, request.error_file);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<std::string> command = request.command, environment = environment_with(request.environment);
  const int error = posix_spawnp(&pid_, command.front().c_str(), files.get(), &attributes, pointers(command).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start " + command.front());
}

Process::~Process() {
  if (poll()) return;
  signal_group(SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::optional<int> Process::poll() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return status_;
}

std::optional<int> Process::wait_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!poll() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return status_;
}

void Process::signal(int number) const {
  if (!status_) kill(pid_, number);
}

void Process::signal_group(int number) const {
  if (!status_) kill(-pid_, number);
}

std::string command_text(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    const bool quoted = word.empty() || word.find_first_of(" '\"$&;|<>()") != std::string::npos;
    text += (text.empty() ? "" : " ") + (quoted ? "'" + word + "'" : word);
  }
  return text;
}

}  // namespace cli
