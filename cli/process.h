// A child process in its own process group, so that a signal from the terminal reaches it through us only; its standard input is empty.
// Knows nothing of MPI or of plans.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cli {

struct ProcessRequest {
  std::vector<std::string> command;      // the first is looked up in PATH
  std::vector<std::string> environment;  // "NAME=value", added to ours
  std::string output_file, error_file;   // empty: ours
  int death_signal = 0;                  // what the child gets when we die, however: of the thread that starts it. 0: nothing
};

class Process {
 public:
  explicit Process(const ProcessRequest& request);  // throws std::system_error naming the program
  ~Process();                                       // a child that still runs is killed with its group
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Exit status, or 128 + signal; nullopt while it runs.
  std::optional<int> poll();
  std::optional<int> wait_for(std::chrono::milliseconds time);
  void signal(int number) const;  // the child alone: mpirun forwards what its ranks shall see
  void signal_group(int number) const;

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
};

// "mpirun -np 2 'a b'": as a person would type it, for messages.
std::string command_text(const std::vector<std::string>& command);

}  // namespace cli
