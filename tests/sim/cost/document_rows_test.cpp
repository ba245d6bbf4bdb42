#include "sim/cost/document_rows.h"

#include <gmock/gmock.h>

#include <numeric>

namespace sim {
namespace {

Workload workload(std::string_view samples, std::int64_t sequence) {
  std::vector<Violation> violations;
  Workload work{.sequence = sequence, .global_batch = 4};
  work.samples = parse_samples_policy(samples, violations);
  EXPECT_TRUE(violations.empty()) << samples;
  return work;
}

TEST(DocumentRows, PackedRowsCutDocumentsWhereTheyEnd) {
  const DocumentRows rows(workload("packed fixed 6", 8));
  EXPECT_THAT(rows.lengths(0), ::testing::ElementsAre(6, 2));
  EXPECT_THAT(rows.lengths(1), ::testing::ElementsAre(4, 4));
  EXPECT_THAT(rows.lengths(2), ::testing::ElementsAre(2, 6));
  EXPECT_THAT(rows.lengths(3), ::testing::ElementsAre(6, 2));
  EXPECT_EQ(rows.real_share(), 1);
  EXPECT_NEAR(rows.loss_share(), 5.0 / 6, 1e-3);  // of six tokens the last one has no next one
  EXPECT_EQ(rows.cut_share(), 0);
}

TEST(DocumentRows, PaddedRowsHoldOneDocument) {
  const DocumentRows rows(workload("padded fixed 6", 8));
  EXPECT_EQ(rows.real_share(), 0.75);
  EXPECT_EQ(rows.loss_share(), 5.0 / 8);
  EXPECT_EQ(rows.attended(), 6);
  const DocumentRows shorter(workload("padded fixed 6", 4));
  EXPECT_EQ(shorter.real_share(), 1);
  EXPECT_NEAR(shorter.cut_share(), 1.0 / 3, 1e-12);
}

TEST(DocumentRows, FittedRowsHoldWholeDocuments) {
  const DocumentRows rows(workload("fitted list 5 3", 8));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto lengths = rows.lengths(row);
    EXPECT_LE(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}), 8);
    for (const std::int64_t length : lengths) EXPECT_THAT(length, ::testing::AnyOf(3, 5));
  }
  EXPECT_GT(rows.real_share(), 0.95);  // fives with threes
  EXPECT_NEAR(DocumentRows(workload("fitted fixed 5", 8)).real_share(), 5.0 / 8, 1e-12);
}

TEST(DocumentRows, DrawTheDistribution) {
  const DocumentRows rows(workload("padded lognormal mean 100 spread 0.5", 100'000));
  double sum = 0, squares = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto length = static_cast<double>(rows.lengths(row).front());
    sum += length, squares += length * length;
  }
  const double mean = sum / static_cast<double>(rows.size()), variance = squares / static_cast<double>(rows.size()) - mean * mean;
  EXPECT_NEAR(mean, 100, 4);  // three deviations of a mean of 2048
  EXPECT_NEAR(std::sqrt(variance) / mean, 0.5, 0.03);
  const DocumentRows list(workload("padded list 10 30*3", 100));
  EXPECT_NEAR(list.real_share(), 0.25, 0.01);
}

TEST(DocumentRows, FollowTheSeedAlone) {
  const Workload work = workload("packed lognormal mean 20 spread 1 seed 5", 64);
  const DocumentRows once(work), again(work), other(workload("packed lognormal mean 20 spread 1", 64));
  EXPECT_TRUE(std::ranges::equal(once.lengths(9), again.lengths(9)));
  EXPECT_FALSE(std::ranges::equal(once.lengths(9), other.lengths(9)));
  EXPECT_EQ(document_rows(work), document_rows(work));
}

TEST(DocumentRows, CountTheTokensOfAStep) {
  EXPECT_EQ(real_tokens(workload("", 8)), 32);
  EXPECT_EQ(real_tokens(workload("padded fixed 6", 8)), 24);
  EXPECT_EQ(attended_tokens(workload("", 8)), 0);
  EXPECT_EQ(attended_tokens(workload("padded fixed 6", 8)), 6);
}

}  // namespace
}  // namespace sim
