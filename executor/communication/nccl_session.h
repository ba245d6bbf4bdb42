// NCCL for the life of the process: makes the communicators, in the same order on every rank, one of all ranks by an id and the others as parts of it, and ends
// them, parts first: finalised and destroyed when all went well, aborted after a failure. What was started is looked after by one thread (NcclWatch). Communicators block: a call returns when the GPU has been told.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "executor/communication/nccl_watch.h"

namespace executor {

class NcclSession {
 public:
  using Settings = NcclSettings;
  explicit NcclSession(Settings settings) : settings_(std::move(settings)), watch_(std::make_unique<NcclWatch>(settings_)) {}
  ~NcclSession();
  NcclSession(const NcclSession&) = delete;
  NcclSession& operator=(const NcclSession&) = delete;

  const Settings& settings() const { return settings_; }
  NcclWatch& watch() { return *watch_; }
  // Every rank of the job makes the same groups in the same order, also those that it is no member of. Throws CollectiveError: a member has not come.
  // nullptr: this rank is no member. The group lives as long as the session.
  const NcclGroup* make_group(const std::vector<sim::Rank>& members, const std::string& name);

  // A graph of the device records what is called between these two: nothing of it is under way, and the watch asks the device nothing meanwhile. Who
  // replays the graph says so afterwards: what was noted then counts as started, on the current stream.
  using Again = std::function<void(const NcclWatch::Ended& ended)>;
  void begin_recording();
  void end_recording();
  void replayed();
  bool is_recording() const { return is_recording_; }
  void note(Again again) { recorded_.push_back(std::move(again)); }

  // After a call to the library: throws CollectiveError if it failed.
  void require(NcclStatus status, const NcclGroup& group, const std::string& what);

 private:
  void start_whole(const NcclGroup& first);
  NcclId meet();
  void wait_for_all();

  Settings settings_;
  std::int32_t groups_made_ = 0;
  NcclGroup whole_;  // all ranks of the job; its communicator is that of the first group, if that has them all
  std::list<NcclGroup> groups_;
  bool is_recording_ = false;
  std::vector<Again> recorded_;
  std::unique_ptr<NcclWatch> watch_;
};

}  // namespace executor
