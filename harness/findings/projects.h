#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "findings/finding.h"

namespace zerotax::findings {

/// allocators/<name>/upstream.json, by the allocator's name: built in, so that an installed zerotax needs no such
/// folder.
const std::map<std::string, std::string>& embedded_upstreams();

/// What is known of an allocator's project (allocators/<name>/upstream.json, results/schema/upstream.schema.json);
/// nullptr if nothing is. `allocator` is the name it was measured under.
const Json* upstream_of(const std::string& allocator);

/// The entries of a list of it ("knobs", "causes", "duplicates") that are about a finding.
std::vector<Json> upstream_entries(const std::string& allocator, const char* list, const Finding& finding);

/// Whether dotted version numbers `one` < `other`, part by part; a part's letters count for nothing.
bool is_older(const std::string& one, const std::string& other);

/// The version of the same major series in which a known report's cause is gone, if `version` is older than that; of
/// another series, the oldest such version that is newer.
std::optional<std::string> fixed_later(const Json& duplicate, const std::string& version);

}  // namespace zerotax::findings
