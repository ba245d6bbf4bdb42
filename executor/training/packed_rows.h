// Documents in rows of a token file, which a token ends: where they are, and which tokens predict nothing, because what follows is another one.
//
//   row       a a a E b b E c c | c E ...      documents: [a a a E] [b b E] [c c]; what a row's end cuts goes on as a document of its own
//   no loss         E     E                    the row's last token predicts the next row's first, if it ends no document
//
//   padded    a a a E E E E E                   documents: [a a a E] [E E E E]; padding is one that predicts nothing
//   fitted    a a a E b b E E                   documents: [a a a E] [b b E] [E]
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/model/documents.h"

namespace executor {

struct RowShape {
  std::int64_t sequence = 1, end_token = 0;
};
// ids [tokens] int64 of a microbatch.
Documents documents_in(const at::Tensor& ids, const RowShape& shape);
at::Tensor without_loss_in(const at::Tensor& ids, const RowShape& shape);  // their positions [n] int64

}  // namespace executor
