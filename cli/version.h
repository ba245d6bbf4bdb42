// What `meshwright --version` says beside the release.
#pragma once

namespace cli {

extern const char* const kCommit;  // of the source, "-dirty" where it was changed; empty: no repository. Made by cmake/version.cmake

}  // namespace cli
