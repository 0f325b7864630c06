#pragma once

#include <string>
#include <vector>

#include "clients/clients.h"
#include "point/typed_point.h"

namespace zerotax::clients {

/// A table of MB/s for each size, at most 78 columns: a row for each allocator, a column for the case and for each
/// client; below it a legend, and why a metric is missing. `points`: of recv_buffer; `results`: of the clients.
std::string clients_table(const std::vector<Client>& clients, const std::vector<Point>& points,
                          const std::vector<ClientResult>& results);

}  // namespace zerotax::clients
