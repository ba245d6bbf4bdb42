#include <array>

#include "executor/training/safetensors.h"
#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace executor {
namespace {

struct TypeName {
  c10::ScalarType type;
  std::string_view name;
};
constexpr std::array kTypes = std::to_array<TypeName>(
    {{c10::kDouble, "F64"}, {c10::kFloat, "F32"}, {c10::kBFloat16, "BF16"}, {c10::kHalf, "F16"}, {c10::kLong, "I64"}, {c10::kByte, "U8"}});

std::string_view name_of(c10::ScalarType type) {
  for (const TypeName& row : kTypes)
    if (row.type == type) return row.name;
  throw std::invalid_argument("safetensors: no name for this type");
}

SafetensorsFile::Entry read_entry(const sim::JsonReader& reader) {
  std::array<std::string_view, kTypes.size()> names;
  for (std::size_t at = 0; at < names.size(); ++at) names[at] = kTypes[at].name;
  SafetensorsFile::Entry entry;
  entry.type = kTypes[reader.choice("dtype", names)].type;
  entry.shape = reader.integers("shape");
  const std::vector<std::int64_t> offsets = reader.integers("data_offsets");
  if (offsets.size() != 2)
    reader.violate("data_offsets", "is no pair of positions", "restore the file");
  else {
    entry.begin = sim::count_of(offsets[0]);
    entry.end = sim::count_of(offsets[1]);
  }
  std::size_t bytes = c10::elementSize(entry.type);
  for (const std::int64_t size : entry.shape) bytes *= sim::count_of(size);
  if (entry.end - entry.begin != bytes) reader.violate("data_offsets", "does not fit the shape", "restore the file");
  return entry;
}

}  // namespace

std::string safetensors_header(std::span<const NamedTensor> tensors) {
  sim::Json header = sim::Json::object();
  header["__metadata__"] = {{"format", "pt"}, {"producer", "meshwright"}};  // Hugging Face's reader asks for it
  std::size_t begin = 0;
  for (const NamedTensor& tensor : tensors) {
    const std::size_t end = begin + tensor.values.nbytes();
    header[tensor.name] = {
        {"dtype", name_of(tensor.values.scalar_type())}, {"shape", tensor.values.sizes().vec()}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data starts aligned, as the format asks
  return text;
}

std::map<std::string, SafetensorsFile::Entry> parse_safetensors_header(std::string_view header, const std::string& path) {
  const sim::Json json = sim::parse_json(header, path);
  const sim::JsonReader reader(json, path);
  std::map<std::string, SafetensorsFile::Entry> entries;
  for (const std::string& name : reader.keys())
    if (name != "__metadata__") entries.emplace(name, read_entry(reader.child(name)));
  reader.finish();
  return entries;
}

}  // namespace executor
