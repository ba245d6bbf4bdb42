#include "executor/training/made_up_images.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>

#include "executor/model/random.h"
#include "executor/training/precision.h"

namespace executor {

void make_up_image(const at::Tensor& image, const ImageOf& what) {
  const RandomKey noise = random_key({what.seed, label_of("image"), static_cast<std::uint64_t>(what.sample)}),
                  pattern = random_key({what.seed, label_of("pattern"), static_cast<std::uint64_t>(what.label)});
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, image.scalar_type(), "make_up_image", [&] {
    scalar_t* const pixels = image.data_ptr<scalar_t>();
    for (std::int64_t at = 0; at < image.numel(); ++at) {
      const auto index = static_cast<std::uint64_t>(at);
      pixels[at] = static_cast<scalar_t>(random_normal(noise, index) + random_normal(pattern, index));
    }
  });
}

at::Tensor empty_images(const sim::ParallelPlan& plan) {
  const sim::ConvolutionForm& form = *plan.model.convolution;
  return at::empty({plan.num_microbatches(), plan.microbatch_size, form.channels, form.image, form.image},
                   scalar_type(plan.workload.precision.of(sim::Numbers::Activations)));
}

}  // namespace executor
