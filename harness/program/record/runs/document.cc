#include "record/runs/document.h"

namespace zerotax::record::runs {
namespace {

constexpr const char* kSiteKeys[] = {"calls",          "requested_bytes", "kernel_zeroed_bytes", "refilled_bytes",
                                     "returned_bytes", "zeroed_bytes",    "peak_live_bytes"};
static_assert(std::size(kSiteKeys) == kSiteNumbers);

}  // namespace

const char* key_of(SiteNumber number) { return kSiteKeys[static_cast<std::size_t>(number)]; }

void to_json(Json& json, Metric metric) { json = key_of(metric); }
ZEROTAX_FIELDS(Place, function, file, line)

}  // namespace zerotax::record::runs
