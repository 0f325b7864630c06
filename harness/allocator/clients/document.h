#pragma once

#include "clients/result.h"

namespace zerotax::clients {

Json clients_json(const Clients& clients);
Clients read_clients(const Json& json);

/// With its head and points from the run of the case (Session::json).
Clients clients_of(const Json& run);

/// The rates in the line that a client prints (cases/recv_buffer/clients/receiving.py); nothing if it is no such line.
std::optional<ClientRates> rates_from_line(const std::string& line);

}  // namespace zerotax::clients
