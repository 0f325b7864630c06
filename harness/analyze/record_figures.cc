#include "analyze/record_figures.h"

namespace zerotax {
namespace {

using namespace record;

constexpr const char* kOnlySmall = "only stores of 64 KiB and more are timed and looked at, and there was none";
constexpr const char* kNoPages = "the pages could not be looked at: no /proc/self/pagemap";

void add_row(CallRow& to, const CallRow& from) {
  to.calls += from.calls;
  to.bytes += from.bytes;
}

void add_row(ZeroRow& to, const ZeroRow& from) {
  to.stores += from.stores;
  to.bytes += from.bytes;
  to.examined_bytes += from.examined_bytes;
  to.redundant_bytes += from.redundant_bytes;
}

void add_row(ZeroCost& to, const ZeroCost& from) {
  to.bytes += from.bytes;
  to.ns += from.ns;
  to.faults += from.faults;
}

template <typename Row>
Row sum(const Row (&rows)[kClasses]) {
  Row all{};
  for (const Row& row : rows) add_row(all, row);
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

/// Of class k = kClasses: what no size reaches.
std::uint64_t smallest_of(std::size_t size_class) {
  if (size_class == 0) return 0;
  return size_class < kClasses ? std::uint64_t{1} << size_class : ~std::uint64_t{0};
}

}  // namespace

void RecordFigures::add(const ThreadBlock& block) {
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    for (std::size_t i = 0; i < kClasses; ++i) add_row(calls_[kind][i], block.calls[kind][i]);
  }
  for (std::size_t kind = 0; kind < kZeroKinds; ++kind) {
    for (std::size_t i = 0; i < kClasses; ++i) add_row(zeroed_[kind][i], block.zeroed[kind][i]);
    add_row(cost_[kind], block.cost[kind]);
  }
  sampled_stores_ += block.sampled_stores;
  sampled_bytes_ += block.sampled_bytes;
  sampled_redundant_bytes_ += block.sampled_redundant_bytes;
  unseen_calls_ += block.unseen_calls;
  unseen_bytes_ += block.unseen_bytes;
  own_ns_ += block.own_ns;
}

void RecordFigures::add(const RecordFigures& other) {
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    for (std::size_t i = 0; i < kClasses; ++i) add_row(calls_[kind][i], other.calls_[kind][i]);
  }
  for (std::size_t kind = 0; kind < kZeroKinds; ++kind) {
    for (std::size_t i = 0; i < kClasses; ++i) add_row(zeroed_[kind][i], other.zeroed_[kind][i]);
    add_row(cost_[kind], other.cost_[kind]);
  }
  sampled_stores_ += other.sampled_stores_;
  sampled_bytes_ += other.sampled_bytes_;
  sampled_redundant_bytes_ += other.sampled_redundant_bytes_;
  unseen_calls_ += other.unseen_calls_;
  unseen_bytes_ += other.unseen_bytes_;
  own_ns_ += other.own_ns_;
}

ZeroRow RecordFigures::zeroed(ZeroKind kind) const { return sum(zeroed_[kind]); }

CallRow RecordFigures::called(CallKind kind) const { return sum(calls_[kind]); }

std::uint64_t RecordFigures::zero_ns() const { return cost_[kInCalloc].ns + cost_[kInOther].ns + cost_[kByHand].ns; }

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
  ZeroCost cost = cost_[kInCalloc];
  add_row(row, zeroed(kInOther));
  add_row(cost, cost_[kInOther]);
  put_zeroed(json, row, cost);
  json["malloc_calls"] = called(kMalloc).calls;
  json["malloc_bytes"] = called(kMalloc).bytes;
  json["realloc_calls"] = called(kRealloc).calls;
  json["realloc_bytes"] = called(kRealloc).bytes;
  put_zeroed(json["by_hand"], zeroed(kByHand), cost_[kByHand]);
  json["small_samples"] = {
      {"stores", sampled_stores_}, {"bytes", sampled_bytes_}, {"redundant_bytes", sampled_redundant_bytes_}};
  json["unseen"] = {{"calls", unseen_calls_}, {"populated_bytes", unseen_bytes_}};
  json["own_ns"] = own_ns_;
  return json;
}

Json RecordFigures::histogram() const {
  Json rows = Json::array();
  for (std::size_t i = 0; i < kClasses; ++i) {
    ZeroRow row = zeroed_[kInCalloc][i];
    add_row(row, zeroed_[kInOther][i]);
    const ZeroRow& by_hand = zeroed_[kByHand][i];
    const std::uint64_t calls = calls_[kCalloc][i].calls + calls_[kMalloc][i].calls + calls_[kRealloc][i].calls;
    if (calls == 0 && row.stores == 0 && by_hand.stores == 0) continue;
    Json json;
    json["from_bytes"] = smallest_of(i);
    json["below_bytes"] = smallest_of(i + 1);
    json["calloc_calls"] = calls_[kCalloc][i].calls;
    json["requested_bytes"] = calls_[kCalloc][i].bytes;
    json["malloc_calls"] = calls_[kMalloc][i].calls;
    json["realloc_calls"] = calls_[kRealloc][i].calls;
    json["zeroed_bytes"] = row.bytes;
    json["redundant_zeroed_bytes"] =
        row.bytes == 0 || row.examined_bytes != 0 ? Json(row.redundant_bytes) : not_available("not looked at");
    json["by_hand_zeroed_bytes"] = by_hand.bytes;
    json["by_hand_redundant_zeroed_bytes"] = by_hand.bytes == 0 || by_hand.examined_bytes != 0
                                                 ? Json(by_hand.redundant_bytes)
                                                 : not_available("not looked at");
    rows.push_back(json);
  }
  return rows;
}

}  // namespace zerotax
