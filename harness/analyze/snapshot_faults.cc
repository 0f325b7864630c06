#include "analyze/snapshot_faults.h"

#include <algorithm>

#include "os/page.h"

namespace zerotax {
namespace {

constexpr std::uint64_t kBinNs = 10'000'000;
constexpr std::uint64_t kMostBins = 50;

struct Counts {
  std::uint64_t copies = 0;
  std::uint64_t reuses = 0;
  std::uint64_t zero_fills = 0;
  std::uint64_t file_faults = 0;
  std::uint64_t other = 0;

  void add(FaultClass kind) {
    switch (kind) {
      case FaultClass::kCopy:
        ++copies;
        break;
      case FaultClass::kReuse:
        ++reuses;
        break;
      case FaultClass::kZeroFill:
        ++zero_fills;
        break;
      case FaultClass::kFile:
        ++file_faults;
        break;
      case FaultClass::kOther:
        ++other;
        break;
    }
  }
  [[nodiscard]] std::uint64_t all() const { return copies + reuses + zero_fills + file_faults + other; }
  [[nodiscard]] Json json() const {
    return {{"copies", copies},
            {"reuses", reuses},
            {"zero_fills", zero_fills},
            {"file_faults", file_faults},
            {"other", other}};
  }
};

/// Times since the snapshot in equal parts, few enough to be drawn.
class Timeline {
 public:
  explicit Timeline(std::uint64_t length_ns)
      : bin_ns_(kBinNs * std::max<std::uint64_t>(1, (length_ns + kBinNs * kMostBins - 1) / (kBinNs * kMostBins))),
        bins_(length_ns / bin_ns_ + 1) {}
  void add(std::uint64_t at_ns, FaultClass kind) { bins_[std::min(at_ns / bin_ns_, bins_.size() - 1)].add(kind); }
  [[nodiscard]] Json json() const {
    Json json = {{"bin_ns", bin_ns_}, {"bins", Json::array()}};
    for (const Counts& counts : bins_) json["bins"].push_back(counts.json());
    return json;
  }

 private:
  std::uint64_t bin_ns_;
  std::vector<Counts> bins_;
};

}  // namespace

Json snapshot_faults_json(const SnapshotRun& run) {
  const auto at = [&](const char* name) { return static_cast<std::uint64_t>(run.figure(name)); };
  const AddressRange array{at("array_begin"), at("array_end")};
  const std::uint64_t begin = at("window_begin_ns");
  const std::uint64_t end = at("window_end_ns");
  Counts before;
  Counts after;
  Counts elsewhere;
  Counts child;
  Timeline timeline(end - begin);
  for (const SnapshotFault& fault : run.faults) {
    if (fault.time_ns < begin || fault.time_ns > end) continue;
    if (fault.pid != run.figure("pid")) {
      child.add(fault.kind);
    } else if (fault.address < array.begin || fault.address >= array.end) {
      elsewhere.add(fault.kind);
    } else {
      (fault.time_ns < at("gone_ns") ? before : after).add(fault.kind);
      timeline.add(fault.time_ns - begin, fault.kind);
    }
  }
  Json json;
  json["method"] = run.every_fault ? "tracepoints" : "software";
  json["lost"] = run.lost;
  json["before_end"] = before.json();
  json["after_end"] = after.json();
  json["elsewhere"] = elsewhere.json();
  json["child"] = child.json();
  json["traced"] = before.all() + after.all() + elsewhere.all();
  json["counted"] = run.figure("window_faults");
  json["pages"] = array.bytes() / kPageBytes;
  json["exclusive_pages"] = run.has("exclusive_pages")
                                ? Json(run.figure("exclusive_pages"))
                                : not_available("there was no child whose end could be waited for");
  json["end_s"] = static_cast<double>(std::max(at("gone_ns"), begin) - begin) / 1e9;
  json["timeline"] = timeline.json();
  return json;
}

}  // namespace zerotax
