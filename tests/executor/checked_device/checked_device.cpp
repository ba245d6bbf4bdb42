#include "tests/executor/checked_device/checked_device.h"

#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <thread>

#include "tests/executor/checked_device/closed_memory.h"
#include "tests/executor/checked_device/recording.h"
#include "tests/executor/checked_device/stream_order.h"

namespace executor {
namespace {

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;
const c10::Device kDevice(kType, 0);
thread_local std::size_t current_stream = 0;
std::atomic<std::int64_t> reads = 0;
thread_local int inside_operator = 0;  // its copies are no transfers that the host waits for

StreamOrder& order() {
  static StreamOrder order;
  return order;
}
ClosedMemory& memory() {
  static ClosedMemory memory([] {
    refuse_memory_beside_recording();
    return current_stream;
  });
  return memory;
}

c10::Stream stream_of(std::size_t number) { return c10::Stream(c10::Stream::UNSAFE, kDevice, static_cast<c10::StreamId>(number)); }
std::size_t number_of(const c10::Stream& stream) { return static_cast<std::size_t>(stream.id()); }

using Holds = std::vector<std::function<bool()>>;
thread_local std::map<std::size_t, Holds> holds;  // by stream of this thread
bool all_ended(const Holds& held) {
  return std::all_of(held.begin(), held.end(), [](const auto& ended) { return ended(); });
}

struct Event {
  StreamOrder::Clock clock{};
  std::chrono::steady_clock::time_point time;
  Holds held;
  std::size_t stream = 0;
  RecordingOf recording;
};

at::Tensor on_host(const at::Tensor& tensor) {
  if (!tensor.is_privateuseone()) return tensor;
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), at::TensorOptions().dtype(tensor.scalar_type()));
}

// What copies that do not block bring to the host: there once the host has waited for their stream.
struct LateCopy {
  at::Tensor to, numbers;
  std::size_t stream;
  StreamOrder::Clock clock;
};
std::vector<LateCopy>& late_copies() {
  static std::vector<LateCopy> late;
  return late;
}

void copy_late(const at::Tensor& from, const at::Tensor& to) {
  const ClosedMemory::Opened source(from.data_ptr());
  late_copies().push_back({.to = to, .numbers = on_host(from).clone(), .stream = current_stream, .clock = order().record(current_stream)});
  to.fill_(std::numeric_limits<double>::quiet_NaN());
}

template <class HasSeen>
void deliver(const HasSeen& has_seen) {
  std::erase_if(late_copies(), [&](const LateCopy& late) {
    const bool arrives = has_seen(late);
    if (arrives) late.to.copy_(late.numbers);
    return arrives;
  });
}
void host_waits(const StreamOrder::Clock& until) {
  order().host_waits(until);
  deliver([](const LateCopy& late) { return order().has_waited(late.stream, late.clock); });
}
// Copies back are behind those that brought it.
void deliver_to_stream() {
  const StreamOrder::Clock seen = order().record(current_stream);
  deliver([&](const LateCopy& late) { return seen[late.stream] >= late.clock[late.stream]; });
}

struct CheckedGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device) const override { return kDevice; }
  c10::Device getDevice() const override { return kDevice; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Stream getStream(c10::Device) const override { return stream_of(current_stream); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream_of(0); }
  void* getStreamNativeHandle(const c10::Stream stream) const override { return reinterpret_cast<void*>(number_of(stream)); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
    static std::size_t next = 0;
    next = next % (StreamOrder::kStreams - 1) + 1;
    return stream_of(next);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream_of(std::exchange(current_stream, number_of(stream))); }
  void record(void** event, const c10::Stream& stream, c10::DeviceIndex, c10::EventFlag) const override {
    if (*event == nullptr) *event = new Event;
    *static_cast<Event*>(*event) = {.clock = order().record(number_of(stream)),
                                    .time = std::chrono::steady_clock::now(),
                                    .held = holds[number_of(stream)],
                                    .stream = number_of(stream),
                                    .recording = recording_of(number_of(stream))};
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<Event*>(event); }
  void block(void* event, const c10::Stream& stream) const override {
    const Event& until = *static_cast<Event*>(event);
    join_recording(until.recording, {.recorded = until.stream, .waiting = number_of(stream)});
    order().block(number_of(stream), until.clock);
  }
  bool queryEvent(void* event) const override {
    refuse_in_recording("the host asks for an event");
    refuse_recorded(static_cast<Event*>(event)->recording, "the host asks for it");
    const bool ended = all_ended(static_cast<Event*>(event)->held);
    if (ended) host_waits(static_cast<Event*>(event)->clock);  // the host has seen it: what it issues from now on comes later
    return ended;
  }
  void synchronizeEvent(void* event) const override {
    refuse_in_recording("the host waits for an event");
    refuse_recorded(static_cast<Event*>(event)->recording, "the host waits for it");
    while (!all_ended(static_cast<Event*>(event)->held)) std::this_thread::sleep_for(std::chrono::microseconds(50));
    host_waits(static_cast<Event*>(event)->clock);
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    refuse_in_recording("the host waits for a stream");
    host_waits(order().record(number_of(stream)));
  }
  void synchronizeDevice(c10::DeviceIndex) const override {
    refuse_in_recording("the host waits for the device");
    for (std::size_t stream = 0; stream < StreamOrder::kStreams; ++stream) host_waits(order().record(stream));
  }
  double elapsedTime(void* first, void* second, c10::DeviceIndex) const override {
    return std::chrono::duration<double, std::milli>(static_cast<Event*>(second)->time - static_cast<Event*>(first)->time).count();
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, CheckedGuard)

// By these LibTorch's autograd finds streams to run a backward on, as on a GPU.
struct CheckedHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
};

void use(const at::Tensor& tensor, StreamOrder::Use how) {
  if (!tensor.is_privateuseone() || tensor.numel() == 0) return;
  std::int64_t last = 0;
  for (std::int64_t dimension = 0; dimension < tensor.dim(); ++dimension) last += (tensor.size(dimension) - 1) * tensor.stride(dimension);
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
  order().use(current_stream, {begin, begin + static_cast<std::uintptr_t>(last + 1) * tensor.element_size()}, how);
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  use(from, StreamOrder::Use::Read);
  use(to, StreamOrder::Use::Write);
  if (!from.is_privateuseone()) deliver_to_stream();
  if (non_blocking && !to.is_privateuseone() && at::isFloatingType(to.scalar_type()) && inside_operator == 0) {
    record_copy(from, to);
    copy_late(from, to);
    return to;
  }
  if (to.numel() > 0) {
    const ClosedMemory::Opened source(from.data_ptr()), target(to.data_ptr());
    on_host(to).copy_(on_host(from));
  }
  if (inside_operator > 0) return to;
  record_copy(from, to);
  if (to.is_privateuseone()) return to;
  host_waits(order().record(current_stream));
  ++reads;
  return to;
}

const at::Tensor& grow(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat>) {
  self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  c10::StorageImpl& storage = *self.storage().unsafeGetStorageImpl();
  const std::size_t bytes = static_cast<std::size_t>(self.numel()) * self.element_size();
  if (storage.nbytes() >= bytes) return self;
  storage.set_data_ptr_noswap(memory().allocate(bytes));
  storage.set_nbytes(bytes);
  return self;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (from.sizes() != to.sizes()) grow(to, from.sizes(), {});
  return copy_from(from, to, false);
}

at::Tensor make_empty(at::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>, std::optional<at::Device>,
                      std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return record_made(
      at::detail::empty_generic(size, &memory(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), type.value_or(at::kFloat), format));
}
at::Tensor make_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                        std::optional<at::Device>, std::optional<bool>) {
  return record_made(at::detail::empty_strided_generic(size, stride, &memory(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                                       type.value_or(at::kFloat)));
}
at::Tensor strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride, std::optional<std::int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

at::Tensor reshape_alias(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride) {
  return strided(self, size, stride, self.storage_offset());
}

// Operators after which the host knows a number, or how many there are.
constexpr std::string_view kReadByTheHost[] = {"aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::_unique2",
                                               "aten::equal"};

void on_cpu(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const std::string& name = operation.schema().name();
  if (std::find(std::begin(kReadByTheHost), std::end(kReadByTheHost), name) != std::end(kReadByTheHost)) refuse_in_recording(name.c_str());
  const auto last = [&](std::size_t count) { return torch::jit::Stack(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end()); };
  torch::jit::Stack inputs = last(operation.schema().arguments().size());
  {
    const InsideCheckedOperator inside;
    at::native::cpu_fallback(operation, stack);
  }
  record_operator(operation, std::move(inputs), last(operation.schema().returns().size()));
  if (name == "aten::_local_scalar_dense") host_waits(order().record(current_stream));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, registry) {
  registry.impl("empty.memory_format", &make_empty);
  for (const char* composite : {"frexp.Tensor", "ldexp.Tensor"})  // of a kernel of each device
    registry.impl(composite, torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
  registry.impl("empty_strided", &make_strided);
  registry.impl("as_strided", &strided);
  registry.impl("_reshape_alias", &reshape_alias);
  registry.impl("view", &at::native::view);
  registry.impl("resize_", &grow);
  registry.impl("_copy_from", &copy_from);
  registry.impl("_copy_from_and_resize", &copy_from_and_resize);
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, registry) { registry.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>()); }

}  // namespace

c10::Device checked_device() {
  static const bool once = [] {
    static CheckedHooks hooks;
    c10::register_privateuse1_backend("checked");
    c10::SetAllocator(kType, &memory());
    at::RegisterPrivateUse1HooksInterface(&hooks);
    return true;
  }();
  static_cast<void>(once);
  return kDevice;
}

void use_on_current_stream(const CheckedUse& use) {
  if (use.bytes == 0 || !ClosedMemory::Opened(use.address).is_device()) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(use.address);
  order().use(current_stream, {begin, begin + use.bytes}, use.writes ? StreamOrder::Use::Write : StreamOrder::Use::Read);
}

std::int64_t checked_reads() { return reads; }
void copy_checked(void* to, const void* from, std::size_t bytes) { memory().copy_data(to, from, bytes); }

std::size_t current_checked_stream() { return current_stream; }
bool is_ordered_behind(std::size_t stream, std::size_t other) { return order().record(stream)[other] >= order().record(other)[other]; }
InsideCheckedOperator::InsideCheckedOperator() { ++inside_operator; }
InsideCheckedOperator::~InsideCheckedOperator() { --inside_operator; }

void hold_current_stream(std::function<bool()> ended) {
  Holds& held = holds[current_stream];
  std::erase_if(held, [](const auto& before) { return before(); });
  held.push_back(std::move(ended));
}

std::int64_t checked_alive_bytes() { return memory().getDeviceStats(0).requested_bytes[0].current; }
std::int64_t checked_peak_bytes() { return memory().getDeviceStats(0).requested_bytes[0].peak; }
void reset_checked_peak() { memory().resetPeakStats(0); }

}  // namespace executor
