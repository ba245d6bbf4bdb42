// What modules inside a piece make again (recompute_scope): tensors that its graph holds keep their place, and are without memory between the forward
// and the backward.
//
//   forward    offer(module, tensors, make) where they are made        forget(): their memory goes
//   backward   make(): the same functions of what was kept, the same bits, in the same place
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "sim/model/segment.h"

namespace executor {

class MadeAgain {
 public:
  using Make = std::function<std::vector<at::Tensor>()>;
  // Of each the whole storage is its own; make() gives as many of the same layout.
  void add(std::vector<at::Tensor> tensors, Make make);
  void forget();
  void make();  // those added last come first; then all are forgotten about

 private:
  struct Group {
    std::vector<at::Tensor> tensors;
    Make make;
  };
  std::vector<Group> groups_;
};

// While it lives, pieces of the model leave in `list` what these modules make again.
class Recomputing {
 public:
  Recomputing(sim::Modules modules, MadeAgain& list);
  ~Recomputing();
  Recomputing(const Recomputing&) = delete;
  Recomputing& operator=(const Recomputing&) = delete;

  static bool makes_again(sim::Module module);
  static void offer(sim::Module module, std::vector<at::Tensor> tensors, MadeAgain::Make make);

 private:
  struct State {
    sim::Modules modules;
    MadeAgain* list = nullptr;
  };
  static State current_;
  State before_;
};

}  // namespace executor
