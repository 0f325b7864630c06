#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "clients/clients.h"
#include "point/typed_point.h"

namespace zerotax::clients {

/// Returns the default output, which fits one screen. `points` are the points of recv_buffer in the document.
Answer clients_answer(const Clients& clients, const std::vector<Point>& points);

}  // namespace zerotax::clients
