// Weights packed in 4 bits, for bitsandbytes_test.py: folder/packed.safetensors, by name
//
//   weight [rows, columns]   codes, block_scales (bytes)   scales, mean (fp32)   numbers [rows, columns], as they come back
#pragma once

#include <string>

namespace parity {

void export_packed(const std::string& folder);

}  // namespace parity
