#include "executor/model/initial_values.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>

#include "executor/model/random.h"

namespace executor {
namespace {

std::int64_t real_rows(const sim::Parameter& parameter, std::int64_t vocabulary) {
  const bool is_over_vocabulary = parameter.name == "embedding.tokens.weight" || parameter.name == "head.weight";
  return is_over_vocabulary ? vocabulary : parameter.rows;
}

// Normal numbers of neighbouring elements, a pair at a time.
class NormalStream {
 public:
  explicit NormalStream(RandomKey key) : key_(key) {}
  double at(std::int64_t element) {
    const auto even = static_cast<std::uint64_t>(element) & ~std::uint64_t{1};
    if (even != even_ || !is_drawn_) pair_ = random_normals(key_, even);
    even_ = even;
    is_drawn_ = true;
    return (element & 1) == 0 ? pair_.even : pair_.odd;
  }

 private:
  RandomKey key_;
  std::uint64_t even_ = 0;
  bool is_drawn_ = false;
  NormalPair pair_;
};

}  // namespace

void fill_initial(at::Tensor& values, const sim::Parameter& parameter, FirstElement first, const InitialWeights& initial) {
  if (parameter.initial != sim::InitialValue::Normal) {
    values.fill_(parameter.initial == sim::InitialValue::Ones ? 1.0 : 0.0);
    return;
  }
  const at::Tensor host = values.is_cpu() ? values : at::empty(values.sizes(), values.options().device(at::kCPU));
  const TensorPart part(parameter, initial.tensor);
  NormalStream normal(random_key({initial.seed, label_of("initial weights"), label_of(parameter.name)}));
  const std::int64_t real_elements = real_rows(parameter, initial.vocabulary) * parameter.columns;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, values.scalar_type(), "fill_initial", [&] {
    scalar_t* numbers = host.data_ptr<scalar_t>();
    for (std::int64_t at = 0; at < host.numel(); ++at) {
      const std::int64_t element = part.global_element(first.value + at);
      numbers[at] = static_cast<scalar_t>(element < real_elements ? parameter.deviation * normal.at(element) : 0.0);
    }
  });
  if (!values.is_cpu()) values.copy_(host);
}

}  // namespace executor
