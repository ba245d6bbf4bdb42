// What every parity test trains on.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "executor/model/random.h"
#include "executor/training/token_file.h"
#include "sim/plan/parallel_plan.h"

namespace parity {

// A file of tokens that every rank makes alike, for itself.
class MadeUpTokens {
 public:
  explicit MadeUpTokens(const sim::ParallelPlan& plan)
      : path_(std::filesystem::temp_directory_path() / fmt::format("parity.{}.bin", getpid())) {
    std::ofstream file(path_, std::ios::binary);
    for (std::uint64_t at = 0; at < 4000; ++at) {
      const auto token = static_cast<std::uint16_t>(executor::random_bits(executor::random_key({11}), at) %
                                                    static_cast<std::uint64_t>(plan.model.vocabulary));
      file.write(reinterpret_cast<const char*>(&token), sizeof token);
    }
    file.close();
    tokens_ = std::make_unique<executor::TokenFile>(path_, plan.workload.sequence);
  }
  ~MadeUpTokens() { std::filesystem::remove(path_); }
  const executor::TokenFile& operator*() const { return *tokens_; }

 private:
  std::string path_;
  std::unique_ptr<executor::TokenFile> tokens_;
};

}  // namespace parity
