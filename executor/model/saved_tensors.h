// What modules inside a piece have saved for its backward and send to the host (offload_modules): tensors that its graph holds keep their place, and are
// without memory while the host has their numbers.
//
//   forward    offer(module, tensors) where they are saved        leave(): their numbers go to the host, and their memory goes
//   backward   come_back(): the same numbers in the same place
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

#include "sim/model/segment.h"

namespace executor {

class SavedTensors {
 public:
  using HostBuffer = std::function<at::Tensor(std::int64_t bytes)>;

  void add(const at::Tensor& tensor);  // all of its storage, once; keeps none of it alive
  void leave(const HostBuffer& on_host);
  void come_back();  // what has left; then all are forgotten about

 private:
  struct Left {
    c10::Storage here;
    at::Tensor there;  // bytes
  };
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> added_;
  std::vector<Left> left_;
};

// While it lives, pieces of the model leave in `list` what these modules save, tensors of so many elements or more.
class Saving {
 public:
  struct What {
    sim::Modules modules{};
    std::int64_t least = 0;
  };
  Saving(What what, SavedTensors& list);
  ~Saving();
  Saving(const Saving&) = delete;
  Saving& operator=(const Saving&) = delete;

  static void offer(sim::Module module, std::initializer_list<at::Tensor> tensors);

 private:
  struct State {
    What what;
    SavedTensors* list = nullptr;
  };
  static State current_;
  State before_;
};

}  // namespace executor
