#include "cli/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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
    const bool replaced =
        std::any_of(added.begin(), added.end(), [&](const std::string& own) { return own.compare(0, name.size(), name) == 0; });
    if (!replaced) result.push_back(text);
  }
  return result;
}

struct Child {
  std::vector<char*> command, environment;
  const char *output_file, *error_file;  // null: ours
  int death_signal;
  pid_t parent;
};

bool redirect(int descriptor, const char* file) {
  if (file == nullptr) return true;
  const int opened = ::open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  return opened >= 0 && ::dup2(opened, descriptor) >= 0 && (opened == descriptor || ::close(opened) == 0);
}

// Between fork and exec: nothing here takes memory or a lock. What went wrong goes into `report`, which exec closes.
[[noreturn]] void become(const Child& child, int report) {
  constexpr int kNotStarted = 127;
  ::setpgid(0, 0);
  if (child.death_signal != 0) ::prctl(PR_SET_PDEATHSIG, child.death_signal);
  if (child.death_signal != 0 && ::getppid() != child.parent) ::_exit(kNotStarted);  // it died before the line above
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);                     // what is typed, or piped to us, is not the child's
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  if (redirect(STDOUT_FILENO, child.output_file) && redirect(STDERR_FILENO, child.error_file))
    ::execvpe(child.command.front(), child.command.data(), child.environment.data());
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(report, &error, sizeof error);
  ::_exit(kNotStarted);
}

}  // namespace

Process::Process(const ProcessRequest& request) {
  std::vector<std::string> command = request.command, environment = environment_with(request.environment);
  const auto file = [](const std::string& name) { return name.empty() ? nullptr : name.c_str(); };
  const Child child{.command = pointers(command),
                    .environment = pointers(environment),
                    .output_file = file(request.output_file),
                    .error_file = file(request.error_file),
                    .death_signal = request.death_signal,
                    .parent = ::getpid()};
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "cannot start " + command.front());
  pid_ = ::fork();
  if (pid_ == 0) become(child, report[1]);
  int error = pid_ < 0 ? errno : 0;
  ::close(report[1]);
  [[maybe_unused]] const auto nothing_if_started = ::read(report[0], &error, sizeof error);
  ::close(report[0]);
  if (error == 0) return;
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  throw std::system_error(error, std::generic_category(), "cannot start " + command.front());
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
