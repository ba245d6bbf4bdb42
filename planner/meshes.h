// The meshes of a space, each with the evaluator of its candidates: those of one mesh follow each other and share prices.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "planner/candidates.h"
#include "planner/evaluator.h"
#include "planner/layer_book.h"

namespace planner {

class Meshes {
 public:
  Meshes(const SearchRequest& request, const sim::ModelGraph& model, const Candidates& candidates);  // request and model must outlive it

  std::size_t size() const { return first_.size(); }
  std::size_t begin(std::size_t mesh) const { return first_[mesh]; }  // of its candidates
  std::size_t end(std::size_t mesh) const { return mesh + 1 < first_.size() ? first_[mesh + 1] : candidates_; }
  std::size_t of(std::int64_t candidate) const;
  Evaluator& evaluator(std::size_t mesh) { return *evaluators_[mesh]; }
  void forget() { evaluators_.clear(); }

 private:
  std::size_t candidates_;
  std::vector<std::size_t> first_;
  LayerBook book_;
  std::vector<std::unique_ptr<Evaluator>> evaluators_;
};

}  // namespace planner
