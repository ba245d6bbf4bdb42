#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.h"
#include "sim/timeline/trace.h"

namespace python {
namespace {

// A column that Python owns. One number a row.
template <class Number, class Rows, class Cell>
nb::object column(const Rows& rows, const Cell& cell) {
  auto* const numbers = new std::vector<Number>();
  numbers->reserve(rows.size());
  for (const auto& row : rows) numbers->push_back(static_cast<Number>(cell(row)));
  const nb::capsule owner(numbers, [](void* all) noexcept { delete static_cast<std::vector<Number>*>(all); });
  return nb::cast(nb::ndarray<nb::numpy, Number, nb::ndim<1>>(numbers->data(), {numbers->size()}, owner));
}

nb::dict span_columns(const sim::Timeline& timeline) {
  using sim::Span;
  const auto& spans = timeline.spans;
  nb::dict all;
  all["device"] = column<std::int32_t>(spans, [](const Span& span) { return span.device.value(); });
  all["stream"] = column<std::uint8_t>(spans, [](const Span& span) { return span.stream; });
  all["start"] = column<double>(spans, [](const Span& span) { return seconds(span.start); });
  all["end"] = column<double>(spans, [](const Span& span) { return seconds(span.end); });
  all["stage"] = column<std::int32_t>(spans, [](const Span& span) { return span.key.stage.value(); });
  all["chunk"] = column<std::int32_t>(spans, [](const Span& span) { return span.key.chunk.value(); });
  all["microbatch"] = column<std::int32_t>(spans, [](const Span& span) { return span.key.microbatch.value(); });
  all["layer"] = column<std::int32_t>(spans, [](const Span& span) { return span.key.layer.value(); });
  all["phase"] = column<std::uint8_t>(spans, [](const Span& span) { return span.key.phase; });
  all["moves_data"] = column<std::uint8_t>(spans, [](const Span& span) { return sim::moves_data(span.key.operation); });
  return all;
}

nb::dict memory_columns(const sim::Timeline& timeline) {
  using sim::MemorySample;
  nb::dict all;
  all["device"] = column<std::int32_t>(timeline.memory, [](const MemorySample& sample) { return sample.device.value(); });
  all["time"] = column<double>(timeline.memory, [](const MemorySample& sample) { return seconds(sample.time); });
  for (std::size_t category = 0; category < sim::kNumMemoryCategories; ++category)
    all[nb::str(sim::kMemoryCategoryNames[category].data())] =
        column<std::int64_t>(timeline.memory, [&](const MemorySample& sample) { return sample.alive[category].value(); });
  return all;
}

std::vector<std::string> kinds_of(const sim::Timeline& timeline) {
  std::vector<std::string> kinds;
  for (const sim::Span& span : timeline.spans) kinds.push_back(sim::kind_text(span.key));
  return kinds;
}

std::vector<std::string> keys_of(const sim::Timeline& timeline) {
  std::vector<std::string> keys;
  for (const sim::Span& span : timeline.spans) keys.push_back(sim::to_text(span.key));
  return keys;
}

template <std::size_t N>
std::vector<std::string> words(const std::string_view (&names)[N]) {
  return {std::begin(names), std::end(names)};
}

}  // namespace

void bind_timeline(nb::module_& module) {
  using sim::GraphDevice, sim::Timeline;
  nb::class_<GraphDevice>(module, "TimelineDevice", "A row of a timeline: a rank, or ranks that do the same.")
      .def_prop_ro(
          "rank", [](const GraphDevice& device) { return device.representative.value(); }, "the first one")
      .def_prop_ro("stage", [](const GraphDevice& device) { return device.stage.value(); })
      .def_ro("ranks", &GraphDevice::multiplicity, "how many it stands for");
  nb::class_<Timeline>(module, "Timeline", "What runs where, from when to when, and the memory beside it.")
      .def_ro("devices", &Timeline::devices)
      .def(
          "columns", &span_columns, nb::sig("def columns(self) -> dict[str, numpy.ndarray]"),
          "One entry a span, ordered by device, then start: device, stream, start, end (seconds), stage, chunk, microbatch, layer, phase,\n"
          "moves_data (1 or 0). Shapes (spans,). Numbers that do not apply are negative; stream and phase index STREAMS and PHASES.")
      .def("memory", &memory_columns, nb::sig("def memory(self) -> dict[str, numpy.ndarray]"),
           "One entry a change, ordered by device, then time: device, time (seconds), and what is alive from then on in bytes, by "
           "category.\n"
           "Shapes (changes,).")
      .def("kinds", &kinds_of, "Of each span what it does: \"forward.attention\", \"gradients.all_reduce.data\".")
      .def("keys", &keys_of, "Of each span its key, which a recorded run has too.")
      .def(
          "text", [](const Timeline& timeline, int columns) { return sim::picture_text(timeline, sim::Columns{columns}); },
          nb::arg("columns") = 100, "A picture of so many characters a row: F, B, r recompute, = communication, s step, . idle.")
      .def(
          "save",
          [](const Timeline& timeline, const std::filesystem::path& path) {
            sim::write_timelines({{"simulated", timeline}}, path.string());
          },
          nb::arg("path"), "For Perfetto (.perfetto-trace, .pftrace) or chrome://tracing. Raises InputError naming the disk's reason.")
      .def("__len__", [](const Timeline& timeline) { return timeline.spans.size(); })
      .def(
          "_repr_svg_",
          [](const nb::object& self) -> nb::object { return nb::module_::import_("meshwright.display").attr("timeline_svg")(self); },
          nb::sig("def _repr_svg_(self) -> str"));
  module.attr("STREAMS") = words(sim::kStreamNames);
  module.attr("PHASES") = words(sim::kPhaseNames);
}

}  // namespace python
