#include "executor/communication/nccl_library.h"

#if MESHWRIGHT_CUDA
#include <fmt/format.h>
#include <nccl.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#endif

namespace executor {

#if MESHWRIGHT_CUDA

namespace {

static_assert(sizeof(NcclId) == sizeof(ncclUniqueId));
static_assert(static_cast<int>(NcclStatus::InProgress) == ncclInProgress);

ncclComm_t comm(NcclHandle handle) { return reinterpret_cast<ncclComm_t>(handle); }
NcclStatus status(ncclResult_t result) { return static_cast<NcclStatus>(result); }
cudaStream_t stream(const NcclOn& on) { return static_cast<cudaStream_t>(on.stream); }

ncclDataType_t type_of(const NcclBuffer& buffer) {
  switch (buffer.type) {
    case c10::ScalarType::Byte: return ncclUint8;
    case c10::ScalarType::Int: return ncclInt32;
    case c10::ScalarType::Long: return ncclInt64;
    case c10::ScalarType::Half: return ncclFloat16;
    case c10::ScalarType::BFloat16: return ncclBfloat16;
    case c10::ScalarType::Float: return ncclFloat32;
    case c10::ScalarType::Double: return ncclFloat64;
    default: throw std::invalid_argument(fmt::format("NCCL moves no {}", c10::toString(buffer.type)));
  }
}

static_assert(kNoPart == NCCL_SPLIT_NOCOLOR);

ncclConfig_t blocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  return config;
}

NcclStatus start(NcclHandle& handle, const NcclId& id, NcclPlace place) {
  ncclConfig_t config = blocking();
  setenv("NCCL_LAUNCH_ORDER_IMPLICIT", "1",
         /*overwrite=*/0);  // communicators on several streams start on the GPU in the order of their calls
  ncclUniqueId unique;
  std::memcpy(&unique, &id, sizeof unique);
  return status(ncclCommInitRankConfig(reinterpret_cast<ncclComm_t*>(&handle), place.size, unique, place.rank, &config));
}

// With resources of its own: groups run beside each other.
NcclStatus split(NcclHandle& handle, NcclHandle whole, NcclPart part) {
  ncclConfig_t config = blocking();
  return status(ncclCommSplit(comm(whole), part.color, part.key, reinterpret_cast<ncclComm_t*>(&handle), &config));
}

NcclStatus state(NcclHandle handle) {
  ncclResult_t now = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(comm(handle), &now);
  return status(asked == ncclSuccess ? now : asked);
}

// Transfers of one group start together, so that none waits for another; the first that fails is told.
NcclStatus exchange(const NcclBuffer& b, const NcclStretches& stretches, const NcclOn& on) {
  const std::size_t width = c10::elementSize(b.type);
  const auto* from = static_cast<const char*>(b.from);
  auto* to = static_cast<char*>(b.to);
  ncclResult_t result = ncclGroupStart();
  const auto add = [&](ncclResult_t next) { result = result == ncclSuccess || result == ncclInProgress ? next : result; };
  for (std::size_t peer = 0; peer < stretches.to.size(); ++peer) {
    const auto rank = static_cast<std::int32_t>(peer);
    if (stretches.to[peer] > 0) add(ncclSend(from, stretches.to[peer], type_of(b), rank, comm(on.communicator), stream(on)));
    if (stretches.from[peer] > 0) add(ncclRecv(to, stretches.from[peer], type_of(b), rank, comm(on.communicator), stream(on)));
    from += stretches.to[peer] * width;
    to += stretches.from[peer] * width;
  }
  add(ncclGroupEnd());
  return status(result);
}

constexpr NcclLibrary kLibrary{
    .make_id = [](NcclId& id) { return status(ncclGetUniqueId(reinterpret_cast<ncclUniqueId*>(&id))); },
    .start = start,
    .split = split,
    .state = state,
    .abort = [](NcclHandle handle) { return status(ncclCommAbort(comm(handle))); },
    .finalize = [](NcclHandle handle) { return status(ncclCommFinalize(comm(handle))); },
    .destroy = [](NcclHandle handle) { return status(ncclCommDestroy(comm(handle))); },
    .all_reduce =
        [](const NcclBuffer& b, ReduceOperation operation, const NcclOn& on) {
          const ncclRedOp_t reduction = operation == ReduceOperation::Sum ? ncclSum : ncclMax;
          return status(ncclAllReduce(b.from, b.to, b.elements, type_of(b), reduction, comm(on.communicator), stream(on)));
        },
    .reduce_scatter =
        [](const NcclBuffer& b, const NcclOn& on) {
          return status(ncclReduceScatter(b.from, b.to, b.elements, type_of(b), ncclSum, comm(on.communicator), stream(on)));
        },
    .reduce =
        [](const NcclBuffer& b, std::int32_t root, const NcclOn& on) {
          return status(ncclReduce(b.from, b.to, b.elements, type_of(b), ncclSum, root, comm(on.communicator), stream(on)));
        },
    .all_gather =
        [](const NcclBuffer& b, const NcclOn& on) {
          return status(ncclAllGather(b.from, b.to, b.elements, type_of(b), comm(on.communicator), stream(on)));
        },
    .exchange = exchange,
    .broadcast =
        [](const NcclBuffer& b, std::int32_t root, const NcclOn& on) {
          return status(ncclBroadcast(b.from, b.to, b.elements, type_of(b), root, comm(on.communicator), stream(on)));
        },
    .send = [](const NcclBuffer& b, std::int32_t to,
               const NcclOn& on) { return status(ncclSend(b.from, b.elements, type_of(b), to, comm(on.communicator), stream(on))); },
    .receive = [](const NcclBuffer& b, std::int32_t from,
                  const NcclOn& on) { return status(ncclRecv(b.to, b.elements, type_of(b), from, comm(on.communicator), stream(on))); },
    .describe = [](NcclStatus code, NcclHandle handle) -> std::string {
      const char* const last = ncclGetLastError(comm(handle));
      return fmt::format("{} {}", ncclGetErrorString(static_cast<ncclResult_t>(code)), last ? last : "");
    }};

}  // namespace

const NcclLibrary* nccl_library() { return &kLibrary; }

std::string nccl_version() {
  constexpr int kMajor = 10000, kMinor = 100;
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return {};
  return fmt::format("{}.{}.{}", version / kMajor, version % kMajor / kMinor, version % kMinor);
}

#else

const NcclLibrary* nccl_library() { return nullptr; }
std::string nccl_version() { return {}; }

#endif

}  // namespace executor
