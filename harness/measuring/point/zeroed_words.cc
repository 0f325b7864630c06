#include "point/zeroed_words.h"

namespace zerotax {

MetricValue method_of(const MetricValue& zeroed_bytes, std::uint32_t methods) {
  if (zeroed_bytes.is_not_available()) return zeroed_bytes;
  if (methods == 0) return MetricValue::word("none");
  if (methods == (kByMemset | kByInline)) return MetricValue::word("memset+inline");
  return MetricValue::word(methods == kByMemset ? "memset" : "inline");
}

MetricValue bound_of(const MetricValue& zeroed_bytes, std::uint32_t methods) {
  if (zeroed_bytes.is_not_available()) return zeroed_bytes;
  return MetricValue::word((methods & kByInline) != 0 ? "at most" : "exact");
}

}  // namespace zerotax
