// Block "kernels" of a hardware profile.
#include "sim/cluster/profile_search.h"
#include "sim/estimate/device.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kPositiveShare = {1e-6, 2};

void read_matrix(const JsonReader& reader, KernelTraits& traits) {
  traits.multiprocessors = static_cast<std::int32_t>(reader.integer("multiprocessors", traits.multiprocessors, {1, 1e5}));
  traits.fp8_peak = reader.flops_per_second("fp8_peak", traits.fp8_peak);
  traits.matrix_share = reader.number("matrix_share", traits.matrix_share, kPositiveShare);
  traits.fp8_share = reader.number("fp8_share", traits.fp8_share, kPositiveShare);
  traits.single_share = reader.number("single_share", traits.single_share, kPositiveShare);
  traits.tile128_share = reader.number("tile128_share", traits.tile128_share, kPositiveShare);
  traits.tile64_share = reader.number("tile64_share", traits.tile64_share, kPositiveShare);
  traits.inner_fill = reader.number("inner_fill", traits.inner_fill, {0, 1e5});
  traits.smooth_waves = reader.number("smooth_waves", traits.smooth_waves, {0, 1});
  traits.convolution_share = reader.number("convolution_share", traits.convolution_share, kPositiveShare);
  traits.grouped_share = reader.number("grouped_share", traits.grouped_share, kPositiveShare);
  traits.loader_workers = reader.number("loader_workers", traits.loader_workers, {1, 1000});
}

void read_attention(const JsonReader& reader, KernelTraits& traits) {
  traits.flash1_share = reader.number("flash1_share", traits.flash1_share, kPositiveShare);
  traits.flash2_share = reader.number("flash2_share", traits.flash2_share, kPositiveShare);
  traits.flash3_share = reader.number("flash3_share", traits.flash3_share, kPositiveShare);
  traits.cudnn_share = reader.number("cudnn_share", traits.cudnn_share, kPositiveShare);
}

void read_links(const JsonReader& reader, KernelTraits& traits) {
  traits.collective_start = reader.seconds("collective_start", traits.collective_start);
  traits.collective_fill = reader.seconds("collective_fill", traits.collective_fill);
  traits.all_reduce_gain = reader.number("all_reduce_gain", traits.all_reduce_gain, {0.1, 4});
  traits.network_share = reader.number("network_share", traits.network_share, kPositiveShare);
  if (reader.has("mesh_rates"))
    for (const JsonReader rates = reader.child("mesh_rates"); rates.has(std::to_string(traits.mesh_rates.size() + 2));)
      traits.mesh_rates.push_back(rates.bytes_per_second(std::to_string(traits.mesh_rates.size() + 2)));
  traits.host_memory = reader.bytes_per_second("host_memory", traits.host_memory);
  traits.host_link = reader.bytes_per_second("host_link", traits.host_link);
  traits.drive = reader.bytes_per_second("drive", traits.drive);
}

// What end-to-end rows say: see sim/validation/fit.h.
void read_fitted(const JsonReader& reader, KernelTraits& traits) {
  if (reader.text("source").empty()) reader.violate("source", "is empty", "say which rows these numbers come from");
  read_matrix(reader, traits);
  traits.network_share = reader.number("network_share", traits.network_share, kPositiveShare);
  traits.interval = reader.number("interval", traits.interval, {0, 0.9});
}

}  // namespace

KernelTraits kernel_traits_from_json(const Json& json, const std::string& file) {
  KernelTraits traits;
  const JsonReader profile(json, file);
  if (!profile.has("kernels")) return traits;
  const JsonReader reader = profile.child("kernels");
  if (reader.text("source").empty()) reader.violate("source", "is empty", "say where these numbers come from");
  read_matrix(reader, traits);
  read_attention(reader, traits);
  read_links(reader, traits);
  traits.interval = reader.number("interval", traits.interval, {0, 0.9});
  if (profile.has("fitted")) read_fitted(profile.child("fitted"), traits);
  profile.finish();
  return traits;
}

Device load_device(const std::string& path_or_name) {
  const std::string path = find_profile(path_or_name, {"hardware"});
  const Json json = load_json_file(path);
  return {hardware_profile_from_json(json, path), kernel_traits_from_json(json, path), common_behavior()};
}

}  // namespace sim
