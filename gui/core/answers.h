// Questions that people ask of a plan ("will it fit, and what if I change X?", those of pytorch PR#125323), each answered by simulating. An
// answer is a sentence with places for its arguments, so that it translates, and what was tried or found. A question is a row of the table.
// Runs on a worker thread.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/core/simulated_plan.h"

namespace gui {

// How far an answer is that is being made, and whether it is still wanted; looked at and set from any thread.
struct Asking {
  const std::atomic<bool>& cancelled;
  std::atomic<double>& share;  // of it that is done
  bool isGivenUp() const { return cancelled; }
};

struct Variant {
  std::string name;  // "microbatch=4": as a knob or a plan file calls it
  sim::ParallelPlan plan;
  std::string why_not{};  // the first rule it breaks; empty: simulated
  sim::SimTime step_time{};
  sim::Bytes peak_memory{}, host_memory{};  // of a device, of a node's host
  double tokens_per_second = 0;
  double out_of_memory_chance = 0;
  std::optional<double> faster_chance{};  // that it is truly faster than the plan asked about; of the same question alone
  bool fits = false;
  bool is_now = false;  // the plan that was asked about
};
void takeResult(Variant& variant, const sim::SimulationResult& result, const SimulatedPlan& now);
struct Part {
  std::string name;  // "layer 3", "stage 1: activations"
  sim::Bytes size{};
};
struct Answer {
  std::string_view sentence;  // English, with %1, %2, ...; translated where it is shown
  std::vector<std::string> arguments;
  std::vector<Variant> variants;  // of a question "what if"
  std::vector<Part> parts;        // of a question "what is it made of", largest first
};

struct Question {
  std::string_view text;  // English
  Answer (*answer)(const SimulatedPlan& now, const Asking& asking);
};
std::span<const Question> allQuestions();

}  // namespace gui
