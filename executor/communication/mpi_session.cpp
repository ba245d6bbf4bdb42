#include "executor/communication/mpi_session.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "executor/communication/mpi_operation.h"
#include "executor/communication/single_copy.h"
#include "sim/units/at.h"

namespace executor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kShortestRest{5};
constexpr std::chrono::milliseconds kListens{50};     // then a wait reads what others say of theirs
constexpr std::chrono::milliseconds kPatience{1000};  // then it asks them
constexpr std::chrono::milliseconds kBetweenLooks{5};

// Polling without rest steals from a rank that still computes, even on the next core; long rests are a message's delay. Where ranks outnumber
// cores, the one that is waited for may need this very core: no polling at all.
PollingPace pace_of_this_job() {
  using std::chrono::microseconds;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool has_own_core = ranks <= sysconf(_SC_NPROCESSORS_ONLN);
  return has_own_core ? PollingPace{.spin = microseconds(50), .longest_rest = microseconds(20)}
                      : PollingPace{.spin = microseconds(0), .longest_rest = microseconds(100)};
}

bool started_by_launcher() { return std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMIX_RANK"); }

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw CollectiveError(fmt::format("{} failed: {}", call, std::string_view(text.data(), sim::count_of(length))));
}

std::shared_ptr<MpiSession> MpiSession::start(const CommunicationOptions& options) {
  if (!started_by_launcher()) return nullptr;
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) return std::shared_ptr<MpiSession>(new MpiSession(options, false));
  choose_shared_memory_copies(can_read_other_processes());
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds: a rest of 5 us would last 55 us otherwise
  return std::shared_ptr<MpiSession>(new MpiSession(options, true));
}

MpiSession::MpiSession(const CommunicationOptions& options, bool is_first)
    : options_(options), is_first_(is_first), pace_(pace_of_this_job()) {}

MpiSession::~MpiSession() {
  if (is_first_ && failure_.empty()) MPI_Finalize();
}

void MpiSession::end_job(int exit_code, std::string_view reason) {
  constexpr MpiWatch::Time kForTheirWords{2000}, kForTheFirst{5000};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const RankEnd first = watch_.end(exit_code, reason, kForTheirWords);
    exit_code = first.exit_code;
    if (first.rank != rank) std::this_thread::sleep_for(kForTheFirst);  // it aborts the job, and is the one that is blamed
  } catch (const CollectiveError&) {                                    // MPI itself has failed: nobody can be told
  }
  abort(exit_code);
}

void MpiSession::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

void MpiSession::leave(MpiOperation& operation) { std::erase(active_, &operation); }

void MpiSession::advance_all() {
  for (std::size_t i = 0; i < active_.size(); ++i) active_[i]->advance();
}

// The first failure is all that later calls say.
template <class Act>
void MpiSession::keep_failure(Act act) {
  if (!failure_.empty()) throw CollectiveError(failure_);
  try {
    act();
  } catch (const CollectiveError& error) {
    failure_ = error.what();
    throw;
  }
}

void MpiSession::look_at(MpiOperation& operation) {
  keep_failure([&] { operation.advance(); });
}

void MpiSession::wait_for(MpiOperation& operation) {
  const auto start = Clock::now();
  auto next_look = kListens;
  auto rest = kShortestRest;
  keep_failure([&] {
    ++waits_;
    for (advance_all(); !operation.done(); advance_all()) {
      const auto waited = Clock::now() - start;
      if (waited > options_.time_limit) operation.fail_after(std::chrono::duration_cast<sim::Seconds>(waited));
      if (waited < pace_.spin) continue;
      if (waited > next_look) {
        const Waiting waiting = operation.waiting(waits_);
        if (heartbeat_ != nullptr && waited > kPatience) heartbeat_->note_wait(waiting);
        watch_.look(waiting, waited > kPatience);
        next_look = std::chrono::duration_cast<std::chrono::milliseconds>(waited) + kBetweenLooks;
      }
      std::this_thread::sleep_for(rest);
      rest = std::min(rest * 2, pace_.longest_rest);
    }
  });
}

}  // namespace executor
