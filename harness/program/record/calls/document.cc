#include "record/calls/document.h"

namespace zerotax::record {

ZEROTAX_FIELDS(CallsProcess, name, parent, fork, threads, mallocs, callocs, aligned, reallocs, frees, maps,
               unknown_frees, lost_threads, image_zeroed_bytes, image_copied_bytes, pages_known, zeroed_at_most_bytes)
ZEROTAX_FIELDS(CallsCounts, minor_faults, zero_fill_faults, kernel_zeroed_bytes, refilled_bytes, returned_bytes,
               zeroed_bytes, redundant_zeroed_bytes, mapping_calls, peak_bytes)
ZEROTAX_FIELDS(CallsAbout, schema, zerotax_version, allocator, env, page_bytes, limited, processes, recorded)

Json calls_about_json(const CallsAbout& about) { return about; }
CallsAbout read_calls_about(const Json& json) { return json.get<CallsAbout>(); }

}  // namespace zerotax::record
