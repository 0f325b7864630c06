#include "snapshot/faults.h"

#include <algorithm>

#include "os/page.h"

namespace zerotax::snapshot {
namespace {

constexpr std::uint64_t kBinNs = 10'000'000;
constexpr std::uint64_t kMostBins = 50;

Json counts_json(const ClassCounts& counts) {
  return {{"copies", counts.copies},
          {"reuses", counts.reuses},
          {"zero_fills", counts.zero_fills},
          {"file_faults", counts.file_faults},
          {"other", counts.other}};
}

/// Times since the snapshot in equal parts, few enough to be drawn.
class Timeline {
 public:
  explicit Timeline(std::uint64_t length_ns)
      : bin_ns_(kBinNs * std::max<std::uint64_t>(1, (length_ns + kBinNs * kMostBins - 1) / (kBinNs * kMostBins))),
        bins_(length_ns / bin_ns_ + 1) {}
  void add(std::uint64_t at_ns, FaultClass kind) { bins_[std::min(at_ns / bin_ns_, bins_.size() - 1)].add(kind); }
  [[nodiscard]] Json json() const {
    Json json = {{"bin_ns", bin_ns_}, {"bins", Json::array()}};
    for (const ClassCounts& counts : bins_) json["bins"].push_back(counts_json(counts));
    return json;
  }

 private:
  std::uint64_t bin_ns_;
  std::vector<ClassCounts> bins_;
};

}  // namespace

Json snapshot_faults_json(const SnapshotRun& run) {
  const auto at = [&](const char* name) { return static_cast<std::uint64_t>(run.figure(name)); };
  const AddressRange array{at("array_begin"), at("array_end")};
  const std::uint64_t begin = at("window_begin_ns");
  const std::uint64_t end = at("window_end_ns");
  ClassCounts before;
  ClassCounts after;
  ClassCounts elsewhere;
  ClassCounts child;
  ClassCounts helper;
  // By whole pages: the allocator's own write before the block may be the first on a page of it.
  const AddressRange destination = AddressRange{at("destination_begin"), at("destination_end")}.pages();
  ClassCounts filled;  // faults on the destination, of the parent and of the child, at any time
  ClassCounts copied_to;
  Timeline timeline(end - begin);
  for (const SnapshotFault& fault : run.faults) {
    if (fault.address >= destination.begin && fault.address < destination.end) {
      (fault.pid == run.figure("pid") ? filled : copied_to).add(fault.kind);
    }
    if (fault.time_ns < begin || fault.time_ns > end) continue;
    if (fault.pid != run.figure("pid")) {
      child.add(fault.kind);
    } else if (fault.address < array.begin || fault.address >= array.end) {
      elsewhere.add(fault.kind);
    } else if (run.has("helper_tid") && fault.tid == run.figure("helper_tid")) {
      helper.add(fault.kind);
    } else {
      (fault.time_ns < at("gone_ns") ? before : after).add(fault.kind);
      timeline.add(fault.time_ns - begin, fault.kind);
    }
  }
  Json json;
  json["method"] = run.every_fault ? "tracepoints" : "software";
  json["lost"] = run.lost;
  json["before_end"] = counts_json(before);
  json["after_end"] = counts_json(after);
  json["elsewhere"] = counts_json(elsewhere);
  json["child"] = counts_json(child);
  json["helper"] = run.has("helper_tid") ? counts_json(helper) : not_available("it has no helper thread");
  json["destination"] = destination.bytes() > 0 ? Json{{"pages", destination.bytes() / kPageBytes},
                                                       {"parent", counts_json(filled)},
                                                       {"child", counts_json(copied_to)}}
                                                : not_available("it is shared memory that is populated beforehand");
  json["traced"] = before.all() + after.all() + elsewhere.all() + helper.all();
  // What a system call of the helper populates is counted as faults, though no exception was taken.
  json["counted"] = run.figure("window_faults") - run.figure("helper_bulk_faults");
  json["pages"] = array.pages().bytes() / kPageBytes;
  json["exclusive_pages"] = run.has("exclusive_pages") ? Json(run.figure("exclusive_pages"))
                                                       : not_available("there was no child to wait for");
  json["end_s"] = static_cast<double>(std::max(at("gone_ns"), begin) - begin) / 1e9;
  json["timeline"] = timeline.json();
  return json;
}

}  // namespace zerotax::snapshot
