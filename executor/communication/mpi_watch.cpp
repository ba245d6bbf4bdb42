#include "executor/communication/mpi_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <thread>

#include "executor/communication/mpi_session.h"

namespace executor {
namespace {

WaitCircle::Time now() { return std::chrono::duration_cast<WaitCircle::Time>(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace

// Small enough that MPI sends it at once, whether or not the other rank listens.
struct MpiWatch::Letter {
  enum class Kind : std::int32_t { Question, Answer, Circle, End };
  Kind kind{};
  std::int32_t rank = -1, for_rank = -1;
  std::int64_t number = 0;  // of the wait, or an exit code
  std::array<char, 2048> text{};

  void write(std::string_view words) { std::copy_n(words.data(), std::min(words.size(), text.size() - 1), text.data()); }
};

MpiWatch::MpiWatch() {
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &ranks_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN);
  MPI_Comm_size(ranks_, &size_);
}

void MpiWatch::send(const Letter& letter, std::int32_t to) const {
  check_mpi(MPI_Send(&letter, static_cast<int>(sizeof letter), MPI_BYTE, to, 0, ranks_), "MPI_Send");
}

void MpiWatch::ask(const Waiting& mine, std::int32_t rank) {
  if (!asked_.insert(rank).second) return;
  send({.kind = Letter::Kind::Question, .rank = mine.rank}, rank);
}

void MpiWatch::tell_all(const std::string& circle, const Waiting& mine) const {
  Letter letter{.kind = Letter::Kind::Circle, .rank = mine.rank};
  letter.write(circle);
  for (std::int32_t rank = 0; rank < size_; ++rank)
    if (rank != mine.rank) send(letter, rank);
  throw CollectiveError(circle);
}

std::optional<MpiWatch::Letter> MpiWatch::next_letter() const {
  int found = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, 0, ranks_, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
  if (!found) return std::nullopt;
  Letter letter;
  check_mpi(MPI_Recv(&letter, static_cast<int>(sizeof letter), MPI_BYTE, MPI_ANY_SOURCE, 0, ranks_, MPI_STATUS_IGNORE), "MPI_Recv");
  return letter;
}

void MpiWatch::take_note_of_end(const Letter& letter) {
  ended_.insert(letter.rank);
  if (!first_end_) first_end_ = {.rank = letter.for_rank, .exit_code = static_cast<int>(letter.number)};
}

void MpiWatch::read_letters(const Waiting& mine) {
  while (const std::optional<Letter> letter = next_letter()) switch (letter->kind) {
      case Letter::Kind::Circle: throw CollectiveError(letter->text.data());
      case Letter::Kind::End:
        take_note_of_end(*letter);
        if (letter->for_rank != letter->rank) throw CollectiveError(letter->text.data());  // it has heard of the first, and says so
        throw CollectiveError(fmt::format("rank {} has ended: {}", letter->rank, letter->text.data()));
      case Letter::Kind::Answer:
        asked_.erase(letter->rank);
        circle_.learn({.number = letter->number, .rank = letter->rank, .for_rank = letter->for_rank, .in = letter->text.data()}, now());
        break;
      case Letter::Kind::Question:
        Letter answer{.kind = Letter::Kind::Answer, .rank = mine.rank, .for_rank = mine.for_rank, .number = mine.number};
        answer.write(mine.in);
        send(answer, letter->rank);
    }
}

void MpiWatch::look(const Waiting& mine, bool may_ask) {
  read_letters(mine);
  if (!may_ask) return;
  const WaitCircle::Finding finding = circle_.look(mine, now());
  if (!finding.circle.empty()) tell_all(finding.circle, mine);
  if (finding.ask) ask(mine, *finding.ask);
}

RankEnd MpiWatch::end(int exit_code, std::string_view reason, Time patience) {
  constexpr Time kBetweenLooks{2};
  int rank = 0;
  MPI_Comm_rank(ranks_, &rank);
  const RankEnd first = first_end_.value_or(RankEnd{.rank = rank, .exit_code = exit_code});
  // Letters of several ranks come in any order: each names the rank that ended first.
  Letter letter{.kind = Letter::Kind::End, .rank = rank, .for_rank = first.rank, .number = first.exit_code};
  letter.write(reason);
  for (std::int32_t other = 0; other < size_; ++other)
    if (other != rank) send(letter, other);
  for (const Time start = now(); static_cast<int>(ended_.size()) + 1 < size_ && now() - start < patience;) {
    const std::optional<Letter> answer = next_letter();
    if (answer && answer->kind == Letter::Kind::End) take_note_of_end(*answer);
    if (!answer) std::this_thread::sleep_for(kBetweenLooks);
  }
  return first;
}

}  // namespace executor
