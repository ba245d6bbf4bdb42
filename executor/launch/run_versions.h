// Which libraries a run was performed with: versions.worker.json in the run folder, beside the versions.json of the program that started it.
#pragma once

#include <string>

namespace executor {

std::string run_versions();  // one JSON document

}  // namespace executor
