// Where ranks that share nothing else leave words for each other: NCCL's ids before there is a communicator, and what a rank is stuck in when one
// hangs. Functions in place of a class: a job has a TCP store (torchrun's variables, or an address that MPI spread), a test has a map.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim/units/index.h"

namespace executor {

struct Rendezvous {
  std::function<void(const std::string& name, const std::string& value)> put;
  std::function<std::string(const std::string& name)> get;                  // waits for it; throws CollectiveError after the time limit
  std::function<std::optional<std::string>(const std::string& name)> look;  // does not wait
};

struct StoreAddress {
  std::string host;
  std::uint16_t port = 0;  // 0 on the server: any that is free
};
struct OpenStore {
  Rendezvous rendezvous;
  StoreAddress address;  // where others find it
};
// LibTorch's TCPStore; rank 0 is its server. Throws CollectiveError: nobody answers there.
OpenStore open_store(const StoreAddress& address, sim::Rank rank);

// MASTER_ADDR and MASTER_PORT. Throws CollectiveError naming what is missing.
StoreAddress store_address_of_environment();

}  // namespace executor
