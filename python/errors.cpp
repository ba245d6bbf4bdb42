#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/application.h"
#include "python/bindings.h"

namespace python {
namespace {

// meshwright.InputError(file, violations, text): made of Python's own class, so that it can be raised and caught without the module.
void raise(const sim::InputError& error) {
  const nb::object type = nb::module_::import_("meshwright.errors").attr("InputError");
  PyErr_SetObject(type.ptr(), type(error.file(), error.violations(), cli::error_text(error.file(), error.violations())).ptr());
}

}  // namespace

void bind_errors(nb::module_& module) {
  nb::class_<sim::Violation>(module, "Violation", "One thing that is wrong, or worth knowing.")
      .def_ro("where", &sim::Violation::where, "JSON pointer, field or argument")
      .def_ro("problem", &sim::Violation::problem, "what is wrong, with the value and the accepted values")
      .def_ro("remedy", &sim::Violation::remedy, "one thing to do")
      .def("__repr__", [](const sim::Violation& one) { return sim::located(one); });
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const sim::InputError& error) {
      raise(error);
    }
  });
}

}  // namespace python
