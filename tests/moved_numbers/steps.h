// Plans as questions: a few blocks of a network on a few devices, simulated.
#pragma once

#include "questions.h"
#include "sim/plan/parallel_plan.h"

namespace moved {

using Words = std::function<void(sim::ParallelPlan&)>;

struct Run {  // what is trained where, unless something stands in
  const char* network;
  const char* hardware;
  const char* software;
  std::int32_t devices = 16;
};

// Data ranks alone, in bf16, four samples of 1024 tokens a microbatch; `words` say what is otherwise.
sim::ParallelPlan plan_of(const Run& run, const Words& words, const Stand& stand);
Answer simulated(const sim::ParallelPlan& plan);
Question step(const std::string& name, const Run& run, const Words& words);
sim::HardwareProfile hardware_named(const std::string& name);
sim::SoftwareStack software_named(const std::string& name);

std::vector<Question> of_layouts();
std::vector<Question> of_kernels();
std::vector<Question> of_experts();
std::vector<Question> of_memory();
std::vector<Question> of_rows();  // what is asked otherwise: published runs, machines that their tools describe

}  // namespace moved
