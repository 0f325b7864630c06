#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "clients/clients.h"

namespace zerotax::clients {

/// A table of MB/s for each size, at most 78 columns: a row for each allocator, a column for the case and for each
/// client; below it a legend, and why a metric is missing. `points`: of recv_buffer; `results`: of the clients.
std::string clients_table(const std::vector<Client>& clients, const std::vector<Json>& points,
                          const std::vector<Json>& results);

}  // namespace zerotax::clients
