#include "clients/document.h"

#include <stdexcept>

template <>
struct nlohmann::adl_serializer<zerotax::PointStatus> {
  static void to_json(zerotax::Json& json, zerotax::PointStatus status) { json = word_of(status); }
  static void from_json(const zerotax::Json& json, zerotax::PointStatus& status) {
    const auto known = zerotax::status_of_word(json.get<std::string>());
    if (!known) throw std::invalid_argument("unknown status");
    status = *known;
  }
};

namespace zerotax::clients {

ZEROTAX_FIELDS(ClientRates, versions, ops, received_bytes, mb_per_s, cpu_s_per_gb, faults_per_mb, max_resident_bytes)
ZEROTAX_FIELDS(Client, name, summary, modules, packages)

ZEROTAX_FIELDS(ClientRun, allocator, version, preload, env, client, size_bytes, status, reason)

void to_json(Json& json, const ClientResult& result) {
  json = static_cast<const ClientRun&>(result);
  const Json rates = result.rates.value_or({});
  for (const auto& [key, value] : rates.items()) {
    json[key] = result.rates ? value : not_available(result.rates.why());
  }
}
void from_json(const Json& json, ClientResult& result) {
  json.get_to(static_cast<ClientRun&>(result));
  const Json& ops = json.at("ops");
  result.rates = (is_not_available(ops) ? ops : json).get<Measured<ClientRates>>();
}

ZEROTAX_FIELDS(Clients, schema, zerotax_version, state, started, command, environment, allocators, clients, results,
               points)

/// What a client prints.
struct Said : ClientRates {
  double wall_s = 0;
  double cpu_s = 0;
  double faults = 0;
};
ZEROTAX_FIELDS_READ(Said, versions, ops, received_bytes, wall_s, cpu_s, faults, max_resident_bytes)

Json clients_json(const Clients& clients) { return clients; }
Clients read_clients(const Json& json) { return json.get<Clients>(); }

Clients clients_of(const Json& run) {
  Json json = run;
  json["clients"] = json["results"] = Json::array();
  json["state"] = "complete";
  Clients clients = json.get<Clients>();
  clients.schema = "zerotax.clients/1";
  clients.zerotax_version = ZEROTAX_VERSION;
  return clients;
}

std::optional<ClientRates> rates_from_line(const std::string& line) {
  try {
    Said said = Json::parse(line).get<Said>();
    const auto received = static_cast<double>(said.received_bytes);
    said.mb_per_s = received / 1e6 / said.wall_s;
    said.cpu_s_per_gb = said.cpu_s / (received / 1e9);
    said.faults_per_mb = said.faults / (received / 1e6);
    return said;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace zerotax::clients
