#include "core/fork_metrics.h"

#include "core/steady_state.h"

namespace zerotax {
namespace {

constexpr const char* kNoTime = "not measured by this pass";

bool forks(const PassResult& pass) { return pass.made() && pass.record().forks != 0; }

class Reader {
 public:
  Reader(const Passes& passes, std::optional<std::size_t> op) : passes_(passes), op_(op) {}

  [[nodiscard]] Json time(const Figure& figure) const {
    return op_ ? single_figure(passes_.timing, "timing", *op_, figure, "")
               : steady_time(passes_.timing, figure, kNoTime);
  }
  [[nodiscard]] Json timed_count(const Figure& figure) const { return count(passes_.timing, "timing", figure, ""); }
  [[nodiscard]] Json fault_count(const Figure& figure, char const (Record::*na)[kReasonBytes]) const {
    return count(passes_.faults, "faults", figure, passes_.faults.made() ? &(passes_.faults.record().*na)[0] : "");
  }

 private:
  [[nodiscard]] Json count(const PassResult& pass, const char* name, const Figure& figure, const char* na) const {
    return op_ ? single_figure(pass, name, *op_, figure, na) : steady_count(pass, name, figure, na);
  }

  const Passes& passes_;
  std::optional<std::size_t> op_;
};

Json writes_json(const Reader& reader, WriteRecord ForkRecord::*process) {
  const auto of = [process](std::int64_t WriteRecord::*figure) -> Figure {
    return [process, figure](const OpRecord& op) { return op.fork.*process.*figure; };
  };
  const auto classified = [&](std::int64_t WriteRecord::*figure) {
    return reader.fault_count(of(figure), &Record::na_classes);
  };
  Json json;
  json["write_ns"] = reader.time(of(&WriteRecord::write_ns));
  json["faults"] = reader.timed_count(of(&WriteRecord::faults));
  json["copies"] = classified(&WriteRecord::copies);
  json["reuses"] = classified(&WriteRecord::reuses);
  json["zero_fills"] = classified(&WriteRecord::zero_fills);
  json["other"] = classified(&WriteRecord::other);
  return json;
}

Json method(const PassResult& faults) {
  if (!faults.made()) return not_available(why_not(faults, "faults"));
  const char* na = &faults.record().na_classes[0];
  if (na[0] != '\0') return not_available(na);
  return faults.record().by_frame != 0 ? "page frames" : "exclusive pages";
}

}  // namespace

std::optional<Json> fork_json(const Passes& passes, std::optional<std::size_t> op) {
  if (!forks(passes.timing) && !forks(passes.audit)) return std::nullopt;
  const Reader reader(passes, op);
  const auto of = [](std::int64_t ForkRecord::*figure) -> Figure {
    return [figure](const OpRecord& record) { return record.fork.*figure; };
  };
  Json json;
  json["fork_ns"] = reader.time(of(&ForkRecord::fork_ns));
  json["exit_ns"] = reader.time(of(&ForkRecord::exit_ns));
  json["populated_bytes"] = reader.fault_count(of(&ForkRecord::populated_bytes), &Record::na_classes);
  json["page_table_bytes"] = reader.fault_count(of(&ForkRecord::page_table_bytes), &Record::na_page_tables);
  json["child"] = writes_json(reader, &ForkRecord::child);
  json["parent"] = writes_json(reader, &ForkRecord::parent);
  if (!op) json["method"] = method(passes.faults);
  return json;
}

}  // namespace zerotax
