#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "planner/plan_candidate.h"
#include "python/bindings.h"
#include "sim/cluster/whose_speed.h"
#include "sim/plan/plan_fields.h"

namespace python {
namespace {

// Switches are true and false in a plan, True and False here.
std::string text_of(const nb::handle& value) {
  if (value.is(nb::handle(Py_True))) return "true";
  if (value.is(nb::handle(Py_False))) return "false";
  return nb::cast<std::string>(nb::str(value));
}

void set(sim::ParallelPlan& plan, const std::string& name, const std::string& text, std::vector<sim::Violation>& found) {
  for (const sim::PlanField& field : sim::plan_fields()) {
    if (field.name != name) continue;
    const auto value = sim::parse_value(field, text);
    if (field.access.set == nullptr || !value)
      found.push_back({name, field.access.set == nullptr ? "follows from other fields" : "'" + text + "' is no value of it",
                       "accepted: " + sim::accepted(field)});
    else
      for (sim::Violation& wrong : field.access.set(plan, *value)) found.push_back(std::move(wrong));
    return;
  }
  found.push_back({name, "is no field of a plan", "see Plan.fields()"});
}

// The stages are cut evenly anew where their number changes.
sim::ParallelPlan replaced(const sim::ParallelPlan& before, const nb::kwargs& fields) {
  sim::ParallelPlan plan = before;
  plan.predictions.reset();
  std::vector<sim::Violation> found;
  for (const auto& [name, value] : fields) set(plan, nb::cast<std::string>(name), text_of(value), found);
  if (!found.empty()) throw sim::InputError("", found);
  if (plan.cut.first.size() != static_cast<std::size_t>(plan.num_virtual_stages()) && plan.mesh.pipeline > 0 && plan.chunks > 0)
    plan.cut = sim::even_cut(plan.model.inner_layers(), plan.pipeline_shape());
  if (found = sim::violations(plan); !found.empty()) throw sim::InputError("", found);
  return plan;
}

nb::object python_value(const sim::FieldValue& value) {
  if (const auto* bytes = std::get_if<sim::Bytes>(&value)) return nb::cast(bytes->value());
  return std::visit(
      [](const auto& plain) -> nb::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(plain)>, sim::Bytes>)
          return nb::none();
        else
          return nb::cast(plain);
      },
      value);
}

nb::dict fields_of(const sim::ParallelPlan& plan) {
  nb::dict all;
  for (const sim::PlanField& field : sim::plan_fields())
    if (!field.is_older_spelling) all[nb::str(field.name.data(), field.name.size())] = python_value(field.access.get(plan));
  return all;
}

// The mesh's first three always; else what is not as usual.
std::string shape_text(const sim::ParallelPlan& plan) {
  std::string text;
  for (const planner::Axis& axis : planner::all_axes())
    if ((axis.is_degree && text.find("pipeline") == std::string::npos) || !sim::is_at_default(*axis.field, plan))
      text += (text.empty() ? "" : ", ") + std::string(axis.field->name) + "=" + sim::text_of(*axis.field, plan);
  return text;
}

}  // namespace

void bind_plan(nb::module_& module) {
  using sim::ParallelPlan;
  nb::class_<ParallelPlan>(module, "Plan",
                           "What is trained, on what, and how it is cut. Complete in itself, and never changed: replace() makes another.")
      .def_static(
          "load", [](const std::filesystem::path& path) { return sim::load_plan(path.string()); }, nb::arg("path"),
          "A plan file. Raises InputError with every violation at once.")
      .def(
          "save", [](const ParallelPlan& plan, const std::filesystem::path& path) { sim::save_plan(plan, path.string()); }, nb::arg("path"),
          "Written aside, then renamed. Raises InputError naming the disk's reason.")
      .def("replace", &replaced, nb::arg("fields"), nb::sig("def replace(self, **fields: int | float | bool | str) -> Plan"),
           "The plan with other values of fields(), cut into even stages where their number changes, without predictions. Amounts are text "
           "with a unit (\"25 MiB\").\nRaises InputError for an unknown field, a value that is none, or a plan that breaks a rule.")
      .def("fields", &fields_of, nb::sig("def fields(self) -> dict[str, int | float | bool | str | list[int] | list[str]]"),
           "Every field beside model and cluster, by name; amounts in bytes.")
      .def("notes", &sim::notes, "What a person should know of it.")
      .def_prop_ro("hash", &sim::plan_hash, "identity of all that predictions depend on: 16 hex digits")
      .def_prop_ro(
          "parameters", [](const ParallelPlan& plan) { return sim::num_parameters(sim::make_model_graph(plan)); }, "of the network")
      .def_prop_ro(
          "hardware", [](const ParallelPlan& plan) { return plan.cluster.hardware.name; }, "name of the hardware profile")
      .def_prop_ro(
          "software", [](const ParallelPlan& plan) { return sim::whose_speed(plan.cluster).program; }, "whose speed it is priced with")
      .def_prop_ro("ranks", [](const ParallelPlan& plan) { return plan.mesh.ranks(); })
      .def("__eq__",
           [](const ParallelPlan& a, const ParallelPlan& b) { return sim::plan_hash(a) == sim::plan_hash(b) && a.training == b.training; })
      .def("__hash__", [](const ParallelPlan& plan) { return std::hash<std::string>()(sim::plan_hash(plan)); })
      .def("__repr__", [](const ParallelPlan& plan) { return "Plan(" + shape_text(plan) + ")"; });
}

}  // namespace python
