#include "record/metrics.h"

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
  json["zero_faults"] = timed(row, cost, cost.faults);
  json["timed_zeroed_bytes"] = cost.bytes;
}

/// For class k = kClasses: more than any size.
std::uint64_t smallest_of(std::size_t size_class) {
  if (size_class == 0) return 0;
  return size_class < kClasses ? std::uint64_t{1} << size_class : ~std::uint64_t{0};
}

}  // namespace

ZeroRow RecordFigures::zeroed(ZeroKind kind) const { return sum(sum_.zeroed[kind]); }

CallRow RecordFigures::called(CallKind kind) const { return sum(sum_.calls[kind]); }

std::uint64_t RecordFigures::zero_ns() const {
  return sum_.cost[kInCalloc].ns + sum_.cost[kInOther].ns + sum_.cost[kByHand].ns;
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
  json["own_ns"] = sum_.own_ns;
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
    if (calls == 0 && row.stores == 0 && by_hand.stores == 0) continue;
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
    rows.push_back(json);
  }
  return rows;
}

}  // namespace zerotax::record
