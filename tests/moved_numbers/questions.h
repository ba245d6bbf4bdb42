// A fixed set of predictions, chosen so that every mechanism which prices, holds or judges something is in one of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"

namespace moved {

// What stands in each question in place of its own; null: nothing does.
struct Stand {
  const sim::HardwareProfile* hardware = nullptr;
  const sim::SoftwareStack* software = nullptr;
};

using Answer = std::vector<double>;  // time, memory, verdict and both intervals; a refusal is an answer, too
struct Question {
  std::string name;
  std::function<Answer(const Stand&)> ask;
};

const std::vector<Question>& questions();
Answer answer(const Question& question, const Stand& stand);
bool differ(const Answer& one, const Answer& other);  // by more than a millionth: links that are shared round to picoseconds
Answer answer_of(const sim::Cluster& cluster);        // a network on all of its devices

// What all of them answer of a profile as it is. The one that told the last number apart is asked first.
class Asked {
 public:
  explicit Asked(const Stand& stand);
  bool moves(const Stand& stand);  // whether any answer is another

 private:
  struct Known {
    const Question* question;
    Answer answer;
  };
  std::vector<Known> known_;
};

}  // namespace moved
