#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/results.h"
#include "python/bindings.h"
#include "sim/cost/prediction_interval.h"
#include "sim/engine/out_of_memory.h"

namespace python {

using sim::DeviceResult;

namespace {

std::map<std::string, std::int64_t> by_category(const sim::MemoryBreakdown& memory) {
  std::map<std::string, std::int64_t> all;
  for (std::size_t category = 0; category < memory.size(); ++category)
    all[std::string(sim::kMemoryCategoryNames[category])] = memory[category].value();
  return all;
}

Simulation simulate(const sim::ParallelPlan& plan, bool timeline, bool every_rank, std::vector<std::string> slow_ranks,
                    std::vector<std::string> slow_links, std::vector<std::string> lost_links) {
  cli::SimulateOptions options;
  options.every_rank = every_rank;
  options.slow_ranks = std::move(slow_ranks), options.slow_links = std::move(slow_links), options.lost_links = std::move(lost_links);
  return simulation_of(plan, cli::simulated(plan, options, timeline ? sim::Detail::Timeline : sim::Detail::Summary).result);
}

void bind_device(nb::module_& module) {
  nb::class_<DeviceResult>(module, "DeviceResult", "One step of a rank, or of ranks that do the same. Times in seconds, memory in bytes.")
      .def_prop_ro(
          "rank", [](const DeviceResult& one) { return one.representative.value(); }, "the first one")
      .def_prop_ro("stage", [](const DeviceResult& one) { return one.stage.value(); })
      .def_ro("ranks", &DeviceResult::multiplicity, "how many it stands for")
      .def_prop_ro(
          "busy", [](const DeviceResult& one) { return seconds(one.busy); }, "computing")
      .def_prop_ro(
          "idle", [](const DeviceResult& one) { return seconds(one.idle); }, "not computing")
      .def_prop_ro("communication", [](const DeviceResult& one) { return seconds(one.communication); })
      .def_prop_ro(
          "exposed_communication", [](const DeviceResult& one) { return seconds(one.exposed_communication); },
          "of it, while nothing computes")
      .def_prop_ro("peak_memory", [](const DeviceResult& one) { return one.peak_memory.value(); })
      .def_prop_ro(
          "host_memory", [](const DeviceResult& one) { return one.host_memory.value(); }, "of what is offloaded")
      .def_prop_ro(
          "memory_at_peak", [](const DeviceResult& one) { return by_category(one.at_peak); }, "what the peak is made of");
}

}  // namespace

Simulation simulation_of(const sim::ParallelPlan& plan, sim::SimulationResult result) {
  const sim::PredictionInterval interval = sim::prediction_interval(plan);
  const sim::Seconds step = sim::to_seconds(result.step_time);
  const double chance = sim::out_of_memory_chance(plan, result);
  return {.result = std::move(result), .low = interval.low(step), .high = interval.high(step), .out_of_memory_chance = chance};
}

void bind_simulation(nb::module_& module) {
  bind_device(module);
  nb::class_<Simulation>(module, "Simulation", "One step of a plan. Times in seconds, memory in bytes, ratios from 0 to 1.")
      .def_prop_ro("step_time", [](const Simulation& one) { return seconds(one.result.step_time); })
      .def_prop_ro(
          "step_time_low", [](const Simulation& one) { return seconds(one.low); }, "four of five measured steps lie between")
      .def_prop_ro("step_time_high", [](const Simulation& one) { return seconds(one.high); })
      .def_prop_ro("tokens_per_second", [](const Simulation& one) { return one.result.tokens_per_second; })
      .def_prop_ro(
          "mfu", [](const Simulation& one) { return one.result.mfu; }, "model FLOPs / (step time x ranks x peak)")
      .def_prop_ro(
          "bubble", [](const Simulation& one) { return one.result.bubble; }, "idle for want of a microbatch")
      .def_prop_ro("exposed_communication", [](const Simulation& one) { return one.result.exposed_communication; })
      .def_prop_ro(
          "peak_memory", [](const Simulation& one) { return one.result.peak_memory.value(); }, "of the fullest device")
      .def_prop_ro(
          "host_memory", [](const Simulation& one) { return one.result.host_memory.value(); }, "of the fullest node")
      .def_prop_ro("fits", [](const Simulation& one) { return one.result.fits; })
      .def_ro("out_of_memory_chance", &Simulation::out_of_memory_chance)
      .def_prop_ro("tasks", [](const Simulation& one) { return one.result.num_tasks; })
      .def_prop_ro(
          "disturbed_by", [](const Simulation& one) { return one.result.disturbed_by; }, "in words")
      .def_prop_ro(
          "undisturbed_step_time", [](const Simulation& one) { return seconds(one.result.undisturbed_step_time); }, "0: nothing disturbs")
      .def_prop_ro("devices", [](const Simulation& one) { return one.result.devices; })
      .def_prop_ro(
          "timeline", [](const Simulation& one) -> const sim::Timeline& { return one.result.timeline; }, nb::rv_policy::reference_internal,
          "empty unless asked for")
      .def(
          "__repr__",
          [](const nb::object& self) -> nb::object { return nb::module_::import_("meshwright.display").attr("simulation_text")(self); },
          nb::sig("def __repr__(self) -> str"))
      .def(
          "_repr_html_",
          [](const nb::object& self) -> nb::object { return nb::module_::import_("meshwright.display").attr("simulation_html")(self); },
          nb::sig("def _repr_html_(self) -> str"));
  module.def("simulate", &simulate, nb::arg("plan"), nb::arg("timeline") = false, nb::arg("every_rank") = false,
             nb::arg("slow_ranks") = std::vector<std::string>(), nb::arg("slow_links") = std::vector<std::string>(),
             nb::arg("lost_links") = std::vector<std::string>(), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace python
