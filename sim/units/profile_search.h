// From "a100-80gb-sxm" to the file that is meant.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sim {

// Where profiles are looked for, in this order; some may not be there:
//   $MESHWRIGHT_DATA/profiles                       who says so
//   ~/.local/share/meshwright/profiles              one's own ($XDG_DATA_HOME in place of ~/.local/share)
//   beside the library that holds this code          installed by pip: the package's own
//   PREFIX/share/meshwright/profiles                installed: the program is in PREFIX/bin
//   profiles                                        of the working directory
std::vector<std::filesystem::path> profile_folders();

// A path to a file, or the name of one in <profiles>/<folder> of the given folders, where <profiles> is one of profile_folders(). Throws InputError that lists the known names and the nearest one.
std::string find_profile(const std::string& path_or_name, const std::vector<std::string>& folders);

}  // namespace sim
