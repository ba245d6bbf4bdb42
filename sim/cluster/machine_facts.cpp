#include "sim/cluster/machine_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/property_tree/xml_parser.hpp>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "sim/cluster/read_lspci.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace sim {
namespace {

using Words = std::vector<std::string>;
constexpr double kBytesPerMegabit = 1e6 / 8, kBytesPerGigabit = 1e9 / 8, kBytesPerGigabyte = 1e9;

// nvidia-smi underlines its header, also into a file.
std::string without_escapes(const std::string& line) {
  std::string plain;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\x1b')
      plain += line[at];
    else
      while (at < line.size() && std::isalpha(static_cast<unsigned char>(line[at])) == 0) ++at;
  }
  return plain;
}

Words words_of(const std::string& line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_one = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  return is_one ? std::optional(value) : std::nullopt;
}

std::int32_t links_of(double said) {
  constexpr double kMost = 1024;  // of one device
  return static_cast<std::int32_t>(std::clamp(said, 0.0, kMost));
}

bool is_device(std::string_view word) { return word.starts_with("GPU") && number(word.substr(3)); }
bool is_adapter(std::string_view word) { return word.starts_with("NIC") || word.starts_with("mlx") || word.starts_with("ibp"); }

void take_nvlinks(MachineFacts& facts, std::int32_t links) {
  facts.nvlinks = std::min(facts.nvlinks.value_or(links), links);
  facts.most_nvlinks = std::max(facts.most_nvlinks.value_or(links), links);
}

// Rows and columns are devices, then adapters; a cell is the way between both.
void read_topo(MachineFacts& facts, const std::vector<std::string>& lines, const std::string& path) {
  const auto header = std::ranges::find_if(lines, [](const std::string& line) { return line.find("GPU0") != std::string::npos; });
  if (header == lines.end())
    throw InputError(path, {{"", "has no line with the names of the GPUs", "give what nvidia-smi topo -m printed"}});
  const Words columns = words_of(*header);
  facts.devices = static_cast<std::int32_t>(std::ranges::count_if(columns, is_device));
  if (const auto adapters = std::ranges::count_if(columns, is_adapter); adapters > 0) facts.adapters = static_cast<std::int32_t>(adapters);
  std::set<std::string> ways;
  for (auto line = std::next(header); line != lines.end(); ++line) {
    const Words cells = words_of(*line);
    if (cells.empty() || !is_device(cells.front())) continue;
    for (std::size_t column = 1; column < cells.size() && std::cmp_less_equal(column, *facts.devices); ++column) {
      if (cells[column] == "X") continue;
      ways.insert(cells[column]);
      const auto links = cells[column].starts_with("NV") ? number(std::string_view(cells[column]).substr(2)) : std::optional(0.0);
      take_nvlinks(facts, links_of(links.value_or(0)));
    }
  }
  facts.ways.assign(ways.begin(), ways.end());
}

using Tree = boost::property_tree::ptree;

void walk(const Tree& tree, const std::function<void(const std::string& name, const Tree& element)>& visit) {
  for (const auto& [name, element] : tree) {
    if (name == "<xmlattr>") continue;
    visit(name, element);
    walk(element, visit);
  }
}

// Elements inside one another; the parser calls itself for each.
std::int64_t deepest(std::string_view xml) {
  std::int64_t depth = 0, most = 0;
  for (std::size_t at = xml.find('<'); at != std::string_view::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    const bool closes = xml.substr(at).starts_with("</"), is_empty = end != std::string_view::npos && xml[end - 1] == '/';
    if (!closes) most = std::max(most, ++depth);
    if (closes || is_empty) --depth;
  }
  return most;
}

// <gpu dev=.. sm=..> with <nvlink target=.. count=..> below it; <net speed="400000"> in megabits.
void read_nccl_topology(MachineFacts& facts, const std::string& text, const std::string& path) {
  constexpr std::int64_t kDeepest = 256;  // theirs are about ten deep
  if (deepest(text) > kDeepest)
    throw InputError(
        path, {{"", fmt::format("has more than {} elements inside one another", kDeepest), "give the file of NCCL_TOPO_DUMP_FILE whole"}});
  std::istringstream stream(text);
  Tree tree;
  try {
    boost::property_tree::read_xml(stream, tree);
  } catch (const boost::property_tree::xml_parser_error& error) {
    throw InputError(
        path, {{fmt::format("line {}", error.line()), "is no XML: " + error.message(), "give the file of NCCL_TOPO_DUMP_FILE whole"}});
  }
  std::int32_t devices = 0, adapters = 0;
  walk(tree, [&](const std::string& name, const Tree& element) {
    if (name == "gpu") {
      ++devices;
      double links = 0;
      for (const auto& [below, link] : element)
        if (below == "nvlink") links += link.get("<xmlattr>.count", 0.0);
      take_nvlinks(facts, links_of(links));
    } else if (name == "net") {
      ++adapters;
      if (const double speed = element.get("<xmlattr>.speed", 0.0); speed > 0)
        facts.adapter_speed = BytesPerSecond(speed * kBytesPerMegabit);
    }
  });
  if (devices > 0) facts.devices = devices;
  if (adapters > 0) facts.adapters = adapters;
}

// "#  Rank  0 Group  0 Pid 1 on HOST device  0 [0x1b] NVIDIA H100 80GB HBM3"; rows: size count type redop root time algbw busbw ...
void read_nccl_tests(MachineFacts& facts, const std::vector<std::string>& lines) {
  std::map<std::string, std::int32_t> ranks_of_host;
  std::set<std::string> names;
  MeasuredBus bus;
  double largest = 0;
  for (const std::string& line : lines) {
    const Words words = words_of(line);
    const auto on = std::ranges::find(words, "on");
    if (line.find(" Rank ") != std::string::npos && words.end() - on > 5) {
      ++ranks_of_host[*(on + 1)];
      std::string name;
      for (auto word = on + 5; word != words.end(); ++word) name += (name.empty() ? "" : " ") + *word;
      names.insert(name);
      continue;
    }
    const auto size = words.size() >= 8 ? number(words[0]) : std::nullopt;
    if (!size || !number(words[1]) || *size < largest) continue;
    const std::size_t busbw = number(words[4]) && number(words[7]) ? 7 : 6;  // older ones have no column `root`
    if (const auto rate = number(words[busbw]); rate && *rate > 0)
      largest = *size, bus.bandwidth = BytesPerSecond(*rate * kBytesPerGigabyte);
  }
  for (const auto& [host, ranks] : ranks_of_host) {
    bus.ranks += ranks;
    facts.devices = std::max(facts.devices.value_or(0), ranks);
  }
  bus.hosts = static_cast<std::int32_t>(ranks_of_host.size());
  facts.device_names.assign(names.begin(), names.end());
  if (largest > 0 && bus.ranks > 1) facts.measured = bus;
}

// A paragraph an adapter: "CA 'mlx5_0'", below it "Rate: 400" in gigabits.
void read_ibstat(MachineFacts& facts, const std::vector<std::string>& lines) {
  std::int32_t adapters = 0;
  for (const std::string& line : lines) {
    const Words words = words_of(line);
    if (words.size() >= 2 && words[0] == "CA" && words[1].starts_with("'")) ++adapters;
    if (words.size() == 2 && words[0] == "Rate:")
      if (const auto rate = number(words[1]); rate && *rate > 0) facts.adapter_speed = BytesPerSecond(*rate * kBytesPerGigabit);
  }
  if (adapters > 0) facts.adapters = adapters;
}

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(without_escapes(line));
  return lines;
}

}  // namespace

MachineFacts read_machine_facts(const std::string& path) {
  const std::string text = load_text_file(path);
  const std::vector<std::string> lines = lines_of_text(text);
  const auto holds = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  MachineFacts facts;
  facts.file = path;
  if (holds("<system"))
    facts.tool = "NCCL's topology", read_nccl_topology(facts, text, path);
  else if (holds("nThread") && holds("busbw"))
    facts.tool = "nccl-tests", read_nccl_tests(facts, lines);
  else if (holds("GPU0") && holds(" X "))
    facts.tool = "nvidia-smi topo -m", read_topo(facts, lines, path);
  else if (holds("CA '"))
    facts.tool = "ibstat", read_ibstat(facts, lines);
  else if (is_lspci(lines))
    facts.tool = "lspci", read_lspci(facts, lines);
  else
    throw InputError(
        path, {{"", "is none of: nvidia-smi topo -m, NCCL's topology (XML), nccl-tests, ibstat, lspci", "give what one of them printed"}});
  if (!facts.devices && !facts.adapters && !facts.measured)
    throw InputError(
        path, {{"", fmt::format("looks like {}, and names no device, adapter or measurement", facts.tool), "give all that it printed"}});
  return facts;
}

}  // namespace sim
