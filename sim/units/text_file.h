// Whole files in and out, so that nothing is lost: a reader sees the old file or the new one, never half of it.
// Used for everything that Meshwright writes in one piece. Streams (traces, metrics) are not written through this.
#pragma once

#include <string>
#include <string_view>

#include "sim/units/quantity.h"

namespace sim {

// Larger files are refused before they are held in memory.
inline constexpr Bytes kLargestTextFile{std::int64_t{1} << 30};

// Throws InputError: missing, a folder, not permitted, larger than kLargestTextFile.
std::string load_text_file(const std::string& path);
// The same of what people edit: without the byte order mark of UTF-8 that some editors put in front.
std::string load_edited_text_file(const std::string& path);

// Throws what save_text_file() would throw before it writes: a folder, a missing one, not permitted.
void require_writable(const std::string& path);

// Written aside, flushed to the disk, then renamed. Throws InputError naming the disk's reason; the old file is then as it was.
// A path that is no regular file (a device, a pipe) is written directly.
void save_text_file(std::string_view text, const std::string& path);

}  // namespace sim
