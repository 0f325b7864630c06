#pragma once

#include <string>

#include "base/json.h"

namespace zerotax::record {

/// Metrics of a recording as the tables write them; "n/a" for one that was not measured.
std::string bytes_text(const Json& figure);    ///< exact: 1.5 MiB, 4097 B, 0
std::string about_text(const Json& figure);    ///< three digits: a table has no room for the exact count
std::string count_text(const Json& figure);    ///< 1,234
std::string ns_text(const Json& figure);       ///< 12.3 ms
std::string percent_text(const Json& figure);  ///< of a share: 12.3 %

}  // namespace zerotax::record
