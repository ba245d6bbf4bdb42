// Memory below a tensor: its views, and a graph's copies of it, keep their place while it is given up and taken again; autograd's version counters are not touched.
#pragma once

#include <c10/core/StorageImpl.h>

#include <cstddef>

namespace executor {

// Not initialised; 0 bytes: it is given up.
inline void resize_storage(c10::StorageImpl& storage, std::size_t bytes) {
  if (storage.nbytes() == bytes) return;
  storage.set_data_ptr_noswap(storage.allocator()->allocate(bytes));
  storage.set_nbytes(bytes);
}

}  // namespace executor
