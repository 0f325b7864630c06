#include "record/metrics.h"

#include <iterator>

namespace zerotax::record {
namespace {

using namespace record;

constexpr const char* kOnlySmall = "only stores of 64 KiB and more are timed and examined, and there were none";
constexpr const char* kNoPages = "the pages could not be examined: no /proc/self/pagemap";

template <typename Row>
Row sum(const Row (&rows)[kClasses]) {
  Row all{};
  for (const Row& row : rows) all.add(row);
  return all;
}

Json redundant(const ZeroRow& row, const ZeroCost& large) {
  if (row.bytes == 0 || row.examined_bytes != 0) return row.redundant_bytes;
  return not_available(large.bytes == 0 ? kOnlySmall : kNoPages);
}

Json timed(const ZeroRow& row, const ZeroCost& large, std::uint64_t figure) {
  if (row.bytes != 0 && large.bytes == 0) return not_available(kOnlySmall);
  return figure;
}

void put_zeroed(Json& json, const ZeroRow& row, const ZeroCost& cost) {
  json["zeroing_stores"] = row.stores;
  json["zeroed_bytes"] = row.bytes;
  json["redundant_zeroed_bytes"] = redundant(row, cost);
  json["examined_zeroed_bytes"] = row.examined_bytes;
  json["zero_ns"] = timed(row, cost, cost.ns);
  json["zero_cpu_ns"] = timed(row, cost, cost.cpu_ns);
  json["zero_faults"] = timed(row, cost, cost.faults);
  json["timed_zeroed_bytes"] = cost.bytes;
}

constexpr const char* kReturnedBy[] = {"free", "realloc", "allocation", "purge", "program"};
static_assert(std::size(kReturnedBy) == kReturnCauses);

Json returned_json(const Tally& tally) {
  ReturnRow all{};
  Json rows = Json::array();
  for (std::size_t cause = 0; cause < kReturnCauses; ++cause) {
    for (std::size_t i = 0; i < kMechanisms; ++i) {
      const ReturnRow& row = tally.returned[cause][i];
      if (row.calls == 0) continue;
      all.add(row);
      rows.push_back({{"by", kReturnedBy[cause]},
                      {"mechanism", mechanism_name(i)},
                      {"calls", row.calls},
                      {"bytes", row.bytes},
                      {"cpu_ns", row.cpu_ns}});
    }
  }
  return {{"calls", all.calls},
          {"bytes", all.bytes},
          {"cpu_ns", all.cpu_ns},
          {"sampled_calls", tally.sampled_returns},
          {"rows", rows}};
}

/// For class k = kClasses: more than any size.
std::uint64_t smallest_of(std::size_t size_class) {
  if (size_class == 0) return 0;
  return size_class < kClasses ? std::uint64_t{1} << size_class : ~std::uint64_t{0};
}

}  // namespace

const char* mechanism_name(std::size_t mechanism) {
  constexpr const char* kNames[] = {"munmap", "madvise", "brk", "mremap", "mmap"};
  static_assert(std::size(kNames) == kMechanisms);
  return kNames[mechanism];
}

ZeroRow RecordFigures::zeroed(ZeroKind kind) const { return sum(sum_.zeroed[kind]); }

CallRow RecordFigures::called(CallKind kind) const { return sum(sum_.calls[kind]); }

std::uint64_t RecordFigures::zero_ns() const {
  return sum_.cost[kInCalloc].ns + sum_.cost[kInOther].ns + sum_.cost[kByHand].ns;
}

std::uint64_t RecordFigures::zero_cpu_ns() const {
  return sum_.cost[kInCalloc].cpu_ns + sum_.cost[kInOther].cpu_ns + sum_.cost[kByHand].cpu_ns;
}

std::uint64_t RecordFigures::zeroed_bytes() const {
  return zeroed(kInCalloc).bytes + zeroed(kInOther).bytes + zeroed(kByHand).bytes;
}

std::uint64_t RecordFigures::calls() const {
  return called(kCalloc).calls + called(kMalloc).calls + called(kRealloc).calls;
}

Json RecordFigures::json() const {
  Json json;
  const CallRow callocs = called(kCalloc);
  json["calloc_calls"] = callocs.calls;
  json["requested_bytes"] = callocs.bytes;
  ZeroRow row = zeroed(kInCalloc);
  ZeroCost cost = sum_.cost[kInCalloc];
  row.add(zeroed(kInOther));
  cost.add(sum_.cost[kInOther]);
  put_zeroed(json, row, cost);
  json["malloc_calls"] = called(kMalloc).calls;
  json["malloc_bytes"] = called(kMalloc).bytes;
  json["realloc_calls"] = called(kRealloc).calls;
  json["realloc_bytes"] = called(kRealloc).bytes;
  put_zeroed(json["by_hand"], zeroed(kByHand), sum_.cost[kByHand]);
  json["small_samples"] = {{"stores", sum_.sampled_stores},
                           {"bytes", sum_.sampled_bytes},
                           {"redundant_bytes", sum_.sampled_redundant_bytes}};
  json["unseen"] = {{"calls", sum_.unseen_calls}, {"populated_bytes", sum_.unseen_bytes}};
  put_zeroed(json["in_free"], zeroed(kInFree), sum_.cost[kInFree]);
  json["free_calls"] = sum_.free_calls;
  json["returned"] = returned_json(sum_);
  json["offered_bytes"] = sum_.offered_bytes;
  json["huge_blocks"] = {{"freed", sum_.huge_blocks},
                         {"examined_bytes", sum_.huge_examined_bytes},
                         {"written_bytes", sum_.huge_written_bytes}};
  json["own_ns"] = sum_.own_ns;
  json["own_cpu_ns"] = sum_.own_cpu_ns;
  return json;
}

Json RecordFigures::histogram() const {
  Json rows = Json::array();
  for (std::size_t i = 0; i < kClasses; ++i) {
    ZeroRow row = sum_.zeroed[kInCalloc][i];
    row.add(sum_.zeroed[kInOther][i]);
    const ZeroRow& by_hand = sum_.zeroed[kByHand][i];
    const std::uint64_t calls =
        sum_.calls[kCalloc][i].calls + sum_.calls[kMalloc][i].calls + sum_.calls[kRealloc][i].calls;
    const FilledRow& filled = sum_.filled[i];
    if (calls == 0 && row.stores == 0 && by_hand.stores == 0 && filled.blocks == 0) continue;
    Json json;
    json["from_bytes"] = smallest_of(i);
    json["below_bytes"] = smallest_of(i + 1);
    json["calloc_calls"] = sum_.calls[kCalloc][i].calls;
    json["requested_bytes"] = sum_.calls[kCalloc][i].bytes;
    json["malloc_calls"] = sum_.calls[kMalloc][i].calls;
    json["realloc_calls"] = sum_.calls[kRealloc][i].calls;
    json["zeroed_bytes"] = row.bytes;
    json["redundant_zeroed_bytes"] =
        row.bytes == 0 || row.examined_bytes != 0 ? Json(row.redundant_bytes) : not_available("not examined");
    json["by_hand_zeroed_bytes"] = by_hand.bytes;
    json["by_hand_redundant_zeroed_bytes"] = by_hand.bytes == 0 || by_hand.examined_bytes != 0
                                                 ? Json(by_hand.redundant_bytes)
                                                 : not_available("not examined");
    if (smallest_of(i) >= kLargeBytes) {
      json["unpopulated_blocks"] = filled.blocks;
      json["kernel_zeroed_bytes"] = filled.kernel_zeroed_bytes;
      json["refilled_bytes"] = filled.refilled_bytes;
      json["returned_bytes"] = filled.returned_bytes;
    }
    rows.push_back(json);
  }
  return rows;
}

}  // namespace zerotax::record
