#include "executor/training/packed_rows.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

namespace executor {
namespace {

const at::Tensor kIds = at::tensor({5, 5, 0, 7, 7, 7, 7, 0}, at::kLong);
constexpr RowShape kShape{.sequence = 4, .end_token = 0};

TEST(PackedRows, DocumentsEndWithTheirTokenOrTheirRow) {
  const auto documents = documents_in(kIds, kShape);
  EXPECT_THAT(documents.all(), ::testing::ElementsAre(DocumentRows{0, 3}, DocumentRows{3, 1}, DocumentRows{4, 4}));
}

TEST(PackedRows, PaddingIsADocumentOfItsOwn) {
  const at::Tensor ids = at::tensor({5, 0, 0, 0, 7, 7, 0, 0}, at::kLong);
  EXPECT_THAT(documents_in(ids, kShape).all(),
              ::testing::ElementsAre(DocumentRows{0, 2}, DocumentRows{2, 2}, DocumentRows{4, 3}, DocumentRows{7, 1}));
}

TEST(PackedRows, WhatEndsADocumentPredictsNothing) {
  EXPECT_TRUE(at::equal(without_loss_in(kIds, kShape), at::tensor({2, 7}, at::kLong)));
  EXPECT_EQ(without_loss_in(kIds, {.sequence = 4, .end_token = 1}).numel(), 0);
}

}  // namespace
}  // namespace executor
