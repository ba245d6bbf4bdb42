#include "executor/training/device_streams.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace executor {
namespace {

constexpr DeviceStream kBesideComputing[] = {DeviceStream::Tensor,  DeviceStream::Gather, DeviceStream::Reduce,  DeviceStream::Send,
                                             DeviceStream::Receive, DeviceStream::ToHost, DeviceStream::ToDevice};

}  // namespace

DeviceStreams::DeviceStreams(c10::Device device) : device_(device) {
  if (device.is_cpu()) return;
  const c10::impl::VirtualGuardImpl impl(device.type());
  const auto another = [&] { return impl.getStreamFromGlobalPool(device, /*isHighPriority=*/true); };
  streams_ = {impl.getStream(device), another(), another(), another(), another(), another(), another(), another()};
}

void DeviceStreams::make_current(DeviceStream stream) const {
  if (streams_ && stream != DeviceStream::Host) c10::impl::VirtualGuardImpl(device_.type()).exchangeStream(of(stream));
}

DeviceStreams::Moment DeviceStreams::now_on(DeviceStream stream) const {
  if (!streams_ || stream == DeviceStream::Host) return nullptr;
  if (unused_->empty()) unused_->push_back(std::make_unique<c10::Event>(device_.type(), c10::EventFlag::BACKEND_DEFAULT));  // with its time
  std::unique_ptr<c10::Event> event = std::move(unused_->back());
  unused_->pop_back();
  const Moment moment(event.release(), [pool = unused_](c10::Event* given_up) { pool->emplace_back(given_up); });
  moment->record(of(stream));
  return moment;
}

void DeviceStreams::wait(DeviceStream stream, const Moment& until) const {
  if (!until) return;
  if (stream == DeviceStream::Host)
    until->synchronize();
  else
    until->block(of(stream));
}

void DeviceStreams::join() const {
  for (const DeviceStream other : kBesideComputing) wait(DeviceStream::Compute, now_on(other));
}

void DeviceStreams::split() const {
  const Moment now = now_on(DeviceStream::Compute);
  for (const DeviceStream other : kBesideComputing) wait(other, now);
}

}  // namespace executor
