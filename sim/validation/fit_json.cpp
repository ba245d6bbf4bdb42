// Rows and profiles in, fitted profiles out. Declared in fit.h.
#include <fmt/format.h>
#include <filesystem>
#include <optional>

#include "sim/calibration/fitted_constants.h"
#include "sim/cluster/unread_numbers_json.h"
#include "sim/units/json_reader.h"
#include "sim/units/own_file.h"
#include "sim/units/profile_search.h"
#include "sim/validation/fit.h"

namespace sim {
namespace {

constexpr std::string_view kFitted = "fitted";

// A profile as it stands without what an earlier fit wrote.
Json profile_json(const std::string& name, const char* folder) {
  Json json = load_json_file(find_profile(name, {folder}));
  json.erase(std::string(kFitted));
  return json;
}

std::vector<std::string> names_in(const char* folder) {
  std::vector<std::string> names;
  const std::string beside = folder == std::string_view("software") ? "plain" : "a100-80gb-sxm";
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(find_profile(beside, {folder})).parent_path()))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

FittedProfiles all_profiles(ReadProfiles read) {
  const auto stated = [read](const std::string& name, const char* folder) {
    return read == ReadProfiles::Unfitted ? profile_json(name, folder) : load_json_file(find_profile(name, {folder}));
  };
  FittedProfiles profiles;
  for (const std::string& name : names_in("software"))
    profiles.stacks.emplace(name, software_stack_from_json(stated(name, "software"), name));
  for (const std::string& name : names_in("hardware"))
    profiles.parts.emplace(name, Device(hardware_profile_from_json(stated(name, "hardware"), name)));
  return profiles;
}

// Nothing where it has no measured step of a whole plan.
std::optional<MeasuredRun> measured_run(const Json& row, const RowProfiles& profiles) {
  const std::string id = row["id"].get<std::string>();
  const RowTarget target = read_target(row, id);
  if (!target.headline || !target.time) return std::nullopt;
  DescribedRow described = describe_row(row, id, profiles);
  if (described.timed == Timed::Layer) return std::nullopt;
  settle_recompute(described);
  return MeasuredRun{id, std::move(described), target};
}

std::string in_unit(double value, std::string_view unit) {
  const double scale = unit == "us" ? 1e-6 : 1e-3;
  return fmt::format("{:.4g} {}", value / scale, unit);
}

double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

template <typename Profile>
Json fitted_block(std::span<const FittedConstant<Profile>> constants, const Profile& profile, const std::set<std::string>& sources) {
  std::string names;
  for (const std::string& source : sources) names += (names.empty() ? "" : ", ") + source;
  Json block = {{"source", "`meshwright validate --fit` on rows of " + names +
                               " in profiles/published/rows.json: least mean over sources of "
                               "|log(predicted / measured)|"}};
  for (const FittedConstant<Profile>& constant : constants) {
    if (!constant.fitted) continue;
    const double value = constant.get(profile);
    if (constant.unit.empty())
      block[std::string(constant.name)] = rounded(value);
    else
      block[std::string(constant.name)] = in_unit(value, constant.unit);
  }
  block["interval"] = rounded(profile.interval);
  return block;
}

}  // namespace

MeasuredRuns load_measured_runs(const std::string& path, ReadProfiles read) {
  MeasuredRuns measured{{}, all_profiles(read)};
  std::vector<SoftwareStack> stacks;
  for (const auto& [name, stack] : measured.profiles.stacks) stacks.push_back(stack);
  const SoftwareCatalog catalog(stacks);
  const RowProfiles profiles{catalog, [&](const std::string& part) -> const Device& { return measured.profiles.parts.at(part); }};
  const Json document = load_json_file(path);
  for (const Json& row : rows_of(document, path)) try {
      if (auto run = measured_run(row, profiles)) measured.runs.push_back(std::move(*run));
    } catch (const InputError&) {
      if (read == ReadProfiles::Unfitted) throw;
    }
  return measured;
}

void save_profiles(const FittedProfiles& profiles, const std::string& folder) {
  for (const auto& [name, sources] : profiles.sources) {
    const bool is_part = profiles.parts.contains(name);
    const char* kind = is_part ? "hardware" : "software";
    Json json = profile_json(name, kind);
    Json& block = json[std::string(kFitted)] = is_part ? fitted_block(part_constants(), profiles.parts.at(name).kernels, sources)
                                                       : fitted_block(stack_constants(), profiles.stacks.at(name), sources);
    if (is_part)
      erase_unread_hardware(json);
    else if (const std::string& parts = profiles.stacks.at(name).fitted_parts; !parts.empty())
      block["fitted_parts"] = parts;
    std::filesystem::create_directories(std::filesystem::path(folder) / kind);
    const std::string path = (std::filesystem::path(folder) / kind / (name + ".json")).string();
    require_own(path, OwnFile::Profile);
    save_json_file(json, path);
  }
}

}  // namespace sim
