#include "gui/core/ramp.h"

#include <algorithm>
#include <array>

namespace gui {
namespace {

constexpr std::array<std::uint32_t, 9> kStops = {0xffffffe5, 0xfffff7bc, 0xfffee391, 0xfffec44f, 0xfffb9a29,
                                                 0xffec7014, 0xffcc4c02, 0xff993404, 0xff662506};

}  // namespace

Rgb rampColor(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kStops.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(at), kStops.size() - 2);
  const double part = at - static_cast<double>(low);
  std::uint32_t color = 0xff000000;
  for (const int shift : {0, 8, 16}) {
    const double from = kStops[low] >> shift & 255, to = kStops[low + 1] >> shift & 255;
    color |= static_cast<std::uint32_t>(from + part * (to - from) + 0.5) << shift;
  }
  return {color};
}

}  // namespace gui
