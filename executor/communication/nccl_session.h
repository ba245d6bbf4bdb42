// NCCL for the life of the process: makes the communicators, in the same order on every rank, and ends them: finalised and destroyed when all went well,
// aborted after a failure. What was started is looked after by one thread (NcclWatch). Communicators block: a call returns when the GPU has been told.
#pragma once

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

  // After a call to the library: throws CollectiveError if it failed.
  void require(NcclStatus status, const NcclGroup& group, const std::string& what);

 private:
  NcclId meet(const NcclGroup& group);
  void wait_for_members(const NcclGroup& group);

  Settings settings_;
  std::int32_t groups_made_ = 0;
  std::list<NcclGroup> groups_;
  std::unique_ptr<NcclWatch> watch_;
};

}  // namespace executor
