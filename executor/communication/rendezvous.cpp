#include "executor/communication/rendezvous.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "executor/communication/communicator.h"

namespace executor {
namespace {

constexpr auto kStorePatience = std::chrono::seconds(60);

template <class Function>
auto speak(const std::string& what, const Function& function) {
  try {
    return function();
  } catch (const c10::Error& error) {
    throw CollectiveError(fmt::format("{}: {}", what, error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw CollectiveError(fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace

OpenStore open_store(const StoreAddress& address, sim::Rank rank) {
  const std::string what = fmt::format("the store of the job at {}:{}", address.host, address.port);
  const auto store = speak(what, [&] {
    c10d::TCPStoreOptions options;
    options.port = address.port;
    options.isServer = rank == sim::Rank(0);
    options.waitWorkers = false;
    options.timeout = kStorePatience;
    return c10::make_intrusive<c10d::TCPStore>(address.host, options);
  });
  const auto name_of = [](const std::string& name) { return "meshwright/" + name; };
  return {.rendezvous = {.put =
                             [=](const std::string& name, const std::string& value) {
                               speak(what, [&] { store->set(name_of(name), std::vector<std::uint8_t>(value.begin(), value.end())); });
                             },
                         .get =
                             [=](const std::string& name) {
                               const auto value = speak(what, [&] { return store->get(name_of(name)); });
                               return std::string(value.begin(), value.end());
                             },
                         .look = [=](const std::string& name) -> std::optional<std::string> {
                           return speak(what, [&]() -> std::optional<std::string> {
                             if (!store->check({name_of(name)})) return std::nullopt;
                             const auto value = store->get(name_of(name));
                             return std::string(value.begin(), value.end());
                           });
                         }},
          .address = {.host = address.host, .port = store->getPort()}};
}

StoreAddress store_address_of_environment() {
  const char* const host = std::getenv("MASTER_ADDR");
  const char* const port = std::getenv("MASTER_PORT");
  const std::string text = port ? port : "";
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (host == nullptr || error != std::errc{} || end != text.data() + text.size())
    throw CollectiveError(
        "MASTER_ADDR and MASTER_PORT say where rank 0 is, beside RANK and WORLD_SIZE: set them (torchrun does), or start with mpirun");
  return {.host = host, .port = number};
}

}  // namespace executor
