// Which rows of a microbatch are a document: it attends to itself alone, and its positions begin at 0. Named by rows, sample after sample; none spans
// two samples. Without any, each sample is one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace executor {

struct DocumentRows {
  std::int64_t begin = 0, count = 0;
  std::int64_t end() const { return begin + count; }
  bool operator==(const DocumentRows&) const = default;
};

class Documents {
 public:
  Documents() = default;
  explicit Documents(std::vector<DocumentRows> rows)  // ascending, without gaps
      : rows_(std::make_shared<const std::vector<DocumentRows>>(std::move(rows))) {}

  bool none() const { return rows_ == nullptr; }
  std::span<const DocumentRows> all() const { return none() ? std::span<const DocumentRows>() : std::span(*rows_); }
  DocumentRows at(std::int64_t row) const;  // that holds the row; there are some

 private:
  std::shared_ptr<const std::vector<DocumentRows>> rows_;  // a backward reads them later
};

}  // namespace executor
