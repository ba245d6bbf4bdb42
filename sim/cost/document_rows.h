// Rows of documents, drawn as a plan's samples say: what the work of attention, padding and tokens that count are taken from.
// Deterministic: a function of the policy and the sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/plan/parallel_plan.h"

namespace sim {

class DocumentRows {
 public:
  explicit DocumentRows(const Workload& workload);

  std::size_t size() const { return begins_.size() - 1; }
  std::span<const std::int64_t> lengths(std::size_t row) const {  // of its documents, cut to the row
    return std::span(lengths_).subspan(begins_[row], begins_[row + 1] - begins_[row]);
  }
  double real_share() const { return real_share_; }  // of tokens: no padding
  double loss_share() const { return loss_share_; }  // of tokens: have a next one in their document
  double documents() const {
    return static_cast<double>(lengths_.size()) / static_cast<double>(size());
  }                                                // of a row, parts of cut ones counted
  double attended() const { return attended_; }    // tokens of the document that a token stands in, in the mean
  double cut_share() const { return cut_share_; }  // of the documents' tokens: what a padded or fitted row has no place for

 private:
  std::vector<std::int64_t> lengths_;
  std::vector<std::size_t> begins_;  // of rows; the last one is the end
  double real_share_ = 1, loss_share_ = 1, attended_ = 1, cut_share_ = 0;
};

// The same rows as long as a thread asks for the same ones: a search asks for thousands of plans.
std::shared_ptr<const DocumentRows> document_rows(const Workload& workload);

double real_share(const Workload& workload);             // 1 where one document fills a row
double real_tokens(const Workload& workload);            // of a step: no padding
std::int64_t attended_tokens(const Workload& workload);  // of the document that a token stands in, in the mean; 0: the sequence

}  // namespace sim
