// What every parity test trains on.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "executor/training/packed_rows.h"
#include "executor/training/token_file.h"
#include "sim/plan/parallel_plan.h"
#include "tests/parity/training_result.h"

namespace parity {

// A file of tokens that every rank makes alike, for itself.
class MadeUpTokens {
 public:
  explicit MadeUpTokens(const sim::ParallelPlan& plan, std::vector<std::int64_t> given = {})
      : path_(std::filesystem::temp_directory_path() / fmt::format("parity.{}.bin", getpid())) {
    std::ofstream file(path_, std::ios::binary);
    if (given.empty()) given = made_up_tokens(plan, 4000);
    for (const std::int64_t each : given) {
      const auto token = static_cast<std::uint16_t>(each);
      file.write(reinterpret_cast<const char*>(&token), sizeof token);
    }
    file.close();
    tokens_ =
        std::make_unique<executor::TokenFile>(path_, plan.workload.sequence, sim::TokenType::Unstated, executor::whole_documents(plan));
  }
  ~MadeUpTokens() { std::filesystem::remove(path_); }
  const executor::TokenFile& operator*() const { return *tokens_; }

 private:
  std::string path_;
  std::unique_ptr<executor::TokenFile> tokens_;
};

}  // namespace parity
