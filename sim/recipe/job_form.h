// YAML of whoever starts jobs on a cluster: SkyPilot and dstack tasks, containers of Kubernetes and its operators, services of Docker Compose, and their
// like. The training's configuration is the command inside.
#pragma once

#include <optional>
#include <string>

namespace sim {

// The commands as one script, behind the variables that the file sets for them. Nothing: no such file. Throws InputError: no YAML.
std::optional<std::string> script_of_job(const std::string& text, const std::string& file);

}  // namespace sim
