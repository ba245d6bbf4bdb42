// How the tokens of a file lie in it. Read by `run` before it starts anything, and by the worker, which maps the file.
//
//   ours        "meshtok1", uint32 bytes a token, uint32 0, then the tokens            written by `tokenize` where 16 bits are too few
//   Megatron    data.bin beside data.idx, which names the type and every document's length
//   plain       uint16 without a header, as nanoGPT has it; uint32 if that is stated
//
// All little-endian. Arrays and tables of other programs are refused by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/units/quantity.h"

namespace sim {

enum class TokenType : std::uint8_t { Unstated, Uint16, Uint32 };
inline constexpr const char* kTokenTypeNames[] = {"auto", "uint16", "uint32"};

struct TokenLayout {
  Bytes begin{};  // of the first token
  Bytes width{2};
  std::int64_t tokens = 0;
};

// stated: what the person says; against a file that says otherwise, an error. Throws InputError.
TokenLayout token_layout(const std::string& path, TokenType stated);

// What another program's file is, by how it begins: "a Parquet table". "": none of those.
std::string foreign_kind(std::string_view bytes);

// What stands before the tokens of a file of ours.
std::string token_header(Bytes width);

}  // namespace sim
