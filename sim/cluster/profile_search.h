// From "a100-80gb-sxm" to the file that is meant. Used by the loaders of this room only.
#pragma once

#include <string>
#include <vector>

namespace sim {

// A path to a file, or the name of one in <profiles>/<folder> of the given folders, where <profiles> is the source's folder or that in the
// working directory. Throws InputError that lists the known names and the nearest one.
std::string find_profile(const std::string& path_or_name, const std::vector<std::string>& folders);

}  // namespace sim
