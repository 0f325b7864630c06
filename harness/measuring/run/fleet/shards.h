#pragma once

#include <string>
#include <vector>

#include "run/fleet/work.h"

namespace zerotax::fleet {

/// The keys of each shard's items.
using Shards = std::vector<std::vector<std::string>>;

/// More than this no array of jobs is cut into: Slurm's own limit is 1001 (MaxArraySize) unless it is raised.
inline constexpr std::size_t kMostShards = 500;

/// Cuts work into `count` shards of about the same expected time, or fewer if it has fewer groups. Groups stay whole:
/// what is compared is measured on one host. The longest group goes first, to the shard that has least (Graham 1969).
/// The same items and count always give the same shards. `count` 0: as many as take two minutes each, but at least 8.
Shards cut_into_shards(const std::vector<Item>& items, std::size_t count);

}  // namespace zerotax::fleet
