// Blocks "kernels" and "fitted" of a hardware profile <-> JSON.
#include "sim/cluster/kernel_traits.h"
#include "sim/cluster/profile_fields_json.h"

namespace sim {
namespace {

constexpr JsonReader::Range kPositiveShare = {1e-6, 2};

template <class Traits, class Field>
void each_matrix_trait(Traits& traits, const Field& field) {
  field("multiprocessors", traits.multiprocessors, {1, 1e5});
  field("fp8_peak", traits.fp8_peak);
  field("fp4_peak", traits.fp4_peak);
  field("matrix_share", traits.matrix_share, kPositiveShare);
  field("fp8_share", traits.fp8_share, kPositiveShare);
  field("single_share", traits.single_share, kPositiveShare);
  field("tile128_share", traits.tile128_share, kPositiveShare);
  field("tile64_share", traits.tile64_share, kPositiveShare);
  field("inner_fill", traits.inner_fill, {0, 1e5});
  field("smooth_waves", traits.smooth_waves, {0, 1});
  field("convolution_share", traits.convolution_share, kPositiveShare);
  field("loader_workers", traits.loader_workers, {1, 1000});
}

// What end-to-end rows may state again: see sim/validation/fit.h.
template <class Traits, class Field>
void each_fitted_trait(Traits& traits, const Field& field) {
  each_matrix_trait(traits, field);
  field("network_share", traits.network_share, kPositiveShare);
  field("interval", traits.interval, {0, 0.9});
}

template <class Traits, class Field>
void each_trait(Traits& traits, const Field& field) {
  each_fitted_trait(traits, field);
  field("flash1_share", traits.flash1_share, kPositiveShare);
  field("flash2_share", traits.flash2_share, kPositiveShare);
  field("flash3_share", traits.flash3_share, kPositiveShare);
  field("cudnn_share", traits.cudnn_share, kPositiveShare);
  field("collective_start", traits.collective_start);
  field("collective_fill", traits.collective_fill);
  field("all_reduce_gain", traits.all_reduce_gain, {0.1, 4});
  field("host_memory", traits.host_memory);
  field("host_link", traits.host_link);
  field("drive", traits.drive);
}

// "mesh_rates": {"2": rate of pairs, "3": ...}
void read_mesh_rates(const JsonReader& kernels, KernelTraits& traits) {
  if (!kernels.has("mesh_rates")) return;
  const JsonReader rates = kernels.child("mesh_rates");
  for (std::size_t ranks = 2; rates.has(std::to_string(ranks)); ++ranks)
    traits.mesh_rates.push_back(rates.bytes_per_second(std::to_string(ranks)));
}

}  // namespace

KernelTraits kernel_traits_from_json(const Json& json, const std::string& file) {
  KernelTraits traits;
  const JsonReader profile(json, file);
  if (!profile.has("kernels")) return traits;
  const JsonReader kernels = profile.child("kernels");
  traits.source = required_source(kernels);
  each_trait(traits, FieldsIn(kernels));
  read_mesh_rates(kernels, traits);
  traits.newer_matrix_share = kernels.number("newer_matrix_share", 0.0, kPositiveShare);
  traits.fp4_share = kernels.number("fp4_share", 0.0, kPositiveShare);
  traits.rowwise_share = kernels.number("rowwise_share", 1.0, kPositiveShare);
  traits.reads_either_way = kernels.boolean("reads_either_way", false);
  traits.product_workspace = kernels.bytes("product_workspace", traits.product_workspace);
  kernels.refuse_unknown();
  if (profile.has("fitted")) {
    const JsonReader fitted = profile.child("fitted");
    traits.source += "; " + required_source(fitted);
    each_fitted_trait(traits, FieldsIn(fitted));
    fitted.refuse_unknown();
  }
  profile.finish();
  return traits;
}

Json to_json(const KernelTraits& traits) {
  Json json = {{"source", traits.source}};
  each_trait(traits, FieldsOut(json));
  if (traits.newer_matrix_share > 0) json["newer_matrix_share"] = traits.newer_matrix_share;
  if (traits.fp4_share > 0) json["fp4_share"] = traits.fp4_share;  // of the parts that have it: files of others stay as they were
  if (traits.rowwise_share != 1) json["rowwise_share"] = traits.rowwise_share;
  if (traits.reads_either_way) json["reads_either_way"] = true;
  if (traits.product_workspace != KernelTraits{}.product_workspace) json["product_workspace"] = to_exact_text(traits.product_workspace);
  for (std::size_t at = 0; at < traits.mesh_rates.size(); ++at)
    json["mesh_rates"][std::to_string(at + 2)] = to_exact_text(traits.mesh_rates[at]);
  return json;
}

}  // namespace sim
