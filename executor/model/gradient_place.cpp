#include "executor/model/gradient_place.h"

#include <c10/core/TensorImpl.h>

#include <limits>
#include <utility>

namespace executor {
namespace {

struct Beginning : c10::BackendMeta {
  bool is_empty = true;
};

Beginning* beginning_of(const at::Tensor& gradient) {
  return gradient.defined() ? dynamic_cast<Beginning*>(gradient.unsafeGetTensorImpl()->get_backend_meta()) : nullptr;
}

}  // namespace

void begin_gradient(const at::Tensor& gradient) {
  if (Beginning* const known = beginning_of(gradient))
    known->is_empty = true;
  else
    gradient.unsafeGetTensorImpl()->set_backend_meta(c10::make_intrusive<Beginning>());
#ifndef NDEBUG
  gradient.fill_(std::numeric_limits<double>::quiet_NaN());  // who adds to it all the same is seen
#endif
}

bool takes_first(const at::Tensor& gradient) {
  Beginning* const beginning = beginning_of(gradient);
  return beginning != nullptr && std::exchange(beginning->is_empty, false);
}

const at::Tensor& started(const at::Tensor& gradient) {
  if (takes_first(gradient)) gradient.zero_();
  return gradient;
}

void add_gradient(const at::Tensor& gradient, const at::Tensor& addend, double factor) {
  if (!takes_first(gradient)) {
    gradient.add_(addend, factor);
    return;
  }
  gradient.copy_(addend);
  if (factor != 1) gradient.mul_(factor);
}

}  // namespace executor
