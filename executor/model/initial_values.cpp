#include "executor/model/initial_values.h"

#include <ATen/Dispatch.h>

#include "executor/model/random.h"

namespace executor {
namespace {

std::int64_t real_rows(const sim::Parameter& parameter, std::int64_t vocabulary) {
  const bool is_over_vocabulary = parameter.name == "embedding.tokens.weight" || parameter.name == "head.weight";
  return is_over_vocabulary ? vocabulary : parameter.rows;
}

}  // namespace

void fill_initial(at::Tensor& values, const sim::Parameter& parameter, FirstElement first, const InitialWeights& initial) {
  if (parameter.initial != sim::InitialValue::Normal) {
    values.fill_(parameter.initial == sim::InitialValue::Ones ? 1.0 : 0.0);
    return;
  }
  const TensorPart part(parameter, initial.tensor);
  const RandomKey key = random_key({initial.seed, label_of("initial weights"), label_of(parameter.name)});
  const std::int64_t real_elements = real_rows(parameter, initial.vocabulary) * parameter.columns;
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "fill_initial", [&] {
    scalar_t* numbers = values.data_ptr<scalar_t>();
    for (std::int64_t at = 0; at < values.numel(); ++at) {
      const std::int64_t element = part.global_element(first.value + at);
      const double normal = element < real_elements ? random_normal(key, static_cast<std::uint64_t>(element)) : 0.0;
      numbers[at] = static_cast<scalar_t>(parameter.deviation * normal);
    }
  });
}

}  // namespace executor
