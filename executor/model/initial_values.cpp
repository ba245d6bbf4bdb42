#include "executor/model/initial_values.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <thread>
#include <vector>

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

struct Share {
  std::int64_t begin = 0, end = 0;
};
struct Filling {
  std::int64_t elements = 0;
  unsigned threads = 1;  // a rank of a CPU has one core, a rank of a GPU the whole host's
};
template <class Each>
void in_shares(const Filling& work, const Each& each) {
  const auto threads = static_cast<std::int64_t>(work.elements < (1 << 16) ? 1U : std::max(1U, work.threads));
  std::vector<std::thread> helpers;
  for (std::int64_t at = 1; at < threads; ++at)
    helpers.emplace_back([&, at] { each(Share{.begin = work.elements * at / threads, .end = work.elements * (at + 1) / threads}); });
  each(Share{.begin = 0, .end = work.elements / threads});
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace

void fill_initial(at::Tensor& values, const sim::Parameter& parameter, FirstElement first, const InitialWeights& initial) {
  if (parameter.initial != sim::InitialValue::Normal) {
    values.fill_(parameter.initial == sim::InitialValue::Ones ? 1.0 : 0.0);
    return;
  }
  const at::Tensor host = values.is_cpu() ? values : at::empty(values.sizes(), values.options().device(at::kCPU));
  const TensorPart part(parameter, initial.tensor);
  const RandomKey key = random_key({initial.seed, label_of("initial weights"), label_of(parameter.name)});
  const std::int64_t real_elements = real_rows(parameter, initial.vocabulary) * parameter.columns;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, values.scalar_type(), "fill_initial", [&] {
    scalar_t* numbers = host.data_ptr<scalar_t>();
    in_shares({.elements = host.numel(), .threads = values.is_cpu() ? 1 : std::thread::hardware_concurrency()}, [&](const Share& share) {
      NormalStream normal(key);
      for (std::int64_t at = share.begin; at < share.end; ++at) {
        const std::int64_t element = part.global_element(first.value + at);
        numbers[at] = static_cast<scalar_t>(element < real_elements ? parameter.deviation * normal.at(element) : 0.0);
      }
    });
  });
  if (!values.is_cpu()) values.copy_(host);
}

}  // namespace executor
