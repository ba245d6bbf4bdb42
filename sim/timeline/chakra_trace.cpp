#include "sim/timeline/chakra_trace.h"

#include <fmt/format.h>

#include <array>
#include <boost/range/iterator_range.hpp>
#include <map>
#include <vector>

#include "sim/timeline/protobuf.h"
#include "sim/timeline/tracks.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"
#include "sim/units/output_file.h"
#include "sim/units/text_file.h"

namespace sim {
namespace {

// Numbers of et_def.proto.
enum class ChakraNode : std::uint8_t { Load = 2, Store = 3, Compute = 4, Send = 5, Receive = 6, Collective = 7 };
constexpr ProtobufField kVersion{1}, kAbout{2}, kId{1}, kName{2}, kType{3}, kControl{4}, kData{5}, kStart{6}, kDuration{7}, kAttribute{10};
constexpr ProtobufField kAttributeName{1}, kInt32{7}, kInt64{9}, kBool{27}, kText{29};
constexpr std::int64_t kPicosecondsOfMicrosecond = 1'000'000;

ChakraNode node_of(Operation operation) {
  switch (operation) {
    case Operation::Send: return ChakraNode::Send;
    case Operation::Receive: return ChakraNode::Receive;
    case Operation::CopyToDevice: return ChakraNode::Load;
    case Operation::CopyToHost: return ChakraNode::Store;
    default: return is_communication(operation) ? ChakraNode::Collective : ChakraNode::Compute;
  }
}

std::uint64_t collective_of(Operation operation) {
  switch (operation) {
    case Operation::AllGather: return 2;
    case Operation::Broadcast: return 5;
    case Operation::AllToAll: return 6;
    case Operation::ReduceScatter: return 7;
    default: return 0;  // all-reduce
  }
}

std::int64_t microseconds(SimTime time) { return (time.count() + kPicosecondsOfMicrosecond / 2) / kPicosecondsOfMicrosecond; }

std::string with_length(const ProtobufMessage& message) {
  std::string framed;
  for (std::size_t left = message.bytes().size();; left >>= 7) {
    framed += static_cast<char>(left >= 0x80 ? (left & 0x7f) | 0x80 : left);
    if (left < 0x80) break;
  }
  return framed + std::string(message.bytes());
}

class ChakraWriter {
 public:
  explicit ChakraWriter(const ChakraStep& step) : step_(step), waits_(step.graph.tasks().size()) {
    const auto& edges = step.graph.edges();
    for (const auto& edge : boost::make_iterator_range(boost::edges(edges))) {
      const auto from = boost::source(edge, edges), to = boost::target(edge, edges);
      if (step.graph.tasks()[from].device == step.graph.tasks()[to].device) waits_[to].push_back(from);
    }
  }

  void write(DeviceId device, const std::string& path) {
    OutputFile file(path);
    ProtobufMessage metadata;
    metadata.text(kVersion, "0.0.4");
    ProtobufMessage producer;
    producer.text(kAttributeName, "producer");
    producer.text(kText, "meshwright");
    metadata.message(kAbout, producer);
    file.write(with_length(metadata));
    std::array<std::int64_t, kNumStreams> last;
    last.fill(-1);
    for (const TaskId id : step_.graph.issue_order(device)) {
      const std::int64_t span = step_.explained.span_of[id.position()];
      if (span < 0) continue;
      const Task& task = step_.graph.task(id);
      std::int64_t& before = sim::at(last, queue_of(stream_order(step_.plan), task.stream));
      file.write(with_length(node(id, sim::at(step_.timeline.spans, span), before)));
      before = static_cast<std::int64_t>(id.position());
    }
    file.finish();
  }

  std::string groups_json() const {
    std::string text;
    for (const auto& [ranks, number] : groups_) {
      std::string members;
      for (const Rank rank : ranks) members += (members.empty() ? "" : ", ") + std::to_string(rank.value());
      text += fmt::format("{}  \"{}\": [{}]", text.empty() ? "" : ",\n", number, members);
    }
    return "{\n" + text + "\n}\n";
  }

 private:
  ProtobufMessage node(TaskId id, const Span& span, std::int64_t before) {
    const Task& task = step_.graph.task(id);
    ProtobufMessage message;
    message.number(kId, id.position());
    message.text(kName, to_text(task.key));
    message.number(kType, static_cast<std::uint64_t>(node_of(task.key.operation)));
    if (before >= 0) message.number(kControl, static_cast<std::uint64_t>(before));
    for (const std::size_t wait : waits_[id.position()])
      if (step_.explained.span_of[wait] >= 0) message.number(kData, wait);
    message.number(kStart, static_cast<std::uint64_t>(microseconds(span.start)));
    message.number(kDuration, static_cast<std::uint64_t>(microseconds(span.end) - microseconds(span.start)));
    attribute(message, "is_cpu_op", kBool, is_of_host(task.stream) ? 1 : 0);
    if (is_communication(task.key.operation)) communication(message, task);
    return message;
  }

  void communication(ProtobufMessage& message, const Task& task) {
    attribute(message, "comm_size", kInt64, static_cast<std::uint64_t>(task.payload.value()));
    const Rank rank = rank_of(task.device);
    if (node_of(task.key.operation) == ChakraNode::Collective) {
      attribute(message, "comm_type", kInt64, collective_of(task.key.operation));
      const auto [group, is_new] = groups_.try_emplace(step_.plan.group(rank, task.key.group), groups_.size());
      ProtobufMessage name;
      name.text(kAttributeName, "pg_name");
      name.text(kText, std::to_string(group->second));
      return message.message(kAttribute, name);
    }
    const Rank peer = rank_of(task.peer);
    const bool sends = task.key.operation == Operation::Send;
    attribute(message, "comm_src", kInt32, static_cast<std::uint64_t>((sends ? rank : peer).value()));
    attribute(message, "comm_dst", kInt32, static_cast<std::uint64_t>((sends ? peer : rank).value()));
    attribute(message, "comm_tag", kInt32, flow_id(task.key, 0, {}) & 0x7fffffff);
  }

  void attribute(ProtobufMessage& message, std::string_view name, ProtobufField field, std::uint64_t value) const {
    ProtobufMessage attribute;
    attribute.text(kAttributeName, name);
    attribute.number(field, value);
    message.message(kAttribute, attribute);
  }

  Rank rank_of(DeviceId device) const { return step_.graph.devices()[device.position()].representative; }

  const ChakraStep& step_;
  std::vector<std::vector<std::size_t>> waits_;
  std::map<std::vector<Rank>, std::size_t> groups_;
};

void require_sayable(const ChakraStep& step) {
  for (const Task& task : step.graph.tasks())
    if (task.key.operation == Operation::RingHop)
      throw InputError("", {{"/context_algorithm", "Chakra has no word for a hop of a ring that sends and receives at once",
                             "use all_gather or all_to_all for this trace"}});
}

}  // namespace

std::string chakra_trace_file(const std::string& prefix, Rank rank) { return fmt::format("{}.{}.et", prefix, rank.value()); }
std::string chakra_groups_file(const std::string& prefix) { return prefix + ".groups.json"; }

void write_chakra_traces(const ChakraStep& step, const std::string& prefix) {
  require_sayable(step);
  ChakraWriter writer(step);
  for (std::size_t device = 0; device < step.graph.devices().size(); ++device)
    writer.write(DeviceId(static_cast<std::int32_t>(device)), chakra_trace_file(prefix, step.graph.devices()[device].representative));
  save_text_file(writer.groups_json(), chakra_groups_file(prefix));
}

}  // namespace sim
