#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "point/plan.h"
#include "point/typed_point.h"

namespace zerotax::clients {

// The fields below are the keys of results/schema/clients.schema.json, which describes them, unless they say otherwise.

/// What a client measured of itself.
struct ClientRates {
  std::map<std::string, std::string> versions;
  std::uint64_t ops = 0;
  std::uint64_t received_bytes = 0;
  double mb_per_s = 0;
  double cpu_s_per_gb = 0;
  double faults_per_mb = 0;
  std::uint64_t max_resident_bytes = 0;
};

struct ClientRun {
  std::string allocator;
  Measured<std::string> version;
  OrNull<std::string> preload;
  std::map<std::string, std::string> env;
  std::string client;
  std::uint64_t size_bytes = 0;
  PointStatus status = PointStatus::kOk;  ///< never kNotZero or kMisaligned: nobody looks at the blocks
  OrNull<std::string> reason;             ///< why the status is not ok
};

/// A client under an allocator, with a size. The rates' fields are keys beside the others, each n/a where there are
/// none.
struct ClientResult : ClientRun {
  Measured<ClientRates> rates;
};

/// A program that receives, as it is used in practice: one script in cases/recv_buffer/clients.
struct Client {
  std::string name;  ///< as in --client; the script without its ".py"
  std::string summary;
  std::vector<std::string> modules;
  std::string packages;
  bool http = false;    ///< wants an HTTPS server, not bare TLS: no key
  std::string heading;  ///< of its column, two words of seven characters at most: no key
};

/// The object "zerotax.clients/1".
struct Clients : DocumentHead {
  std::string state;
  Json allocators;
  std::vector<Client> clients;
  std::vector<ClientResult> results;
  Json points;
};

Json clients_json(const Clients& clients);
Clients read_clients(const Json& json);

/// With its head and points from the run of the case (Session::json).
Clients clients_of(const Json& run);

/// The rates in the line that a client prints (cases/recv_buffer/clients/receiving.py); nothing if it is no such line.
std::optional<ClientRates> rates_from_line(const std::string& line);

/// Every client, in the order of the table's columns.
const std::vector<Client>& all_clients();

std::vector<std::string> client_names();

/// Those of the names, or all. Throws UsageError for an unknown name.
std::vector<Client> chosen_clients(const std::vector<std::string>& names);

/// What runs of the clients need besides the allocator.
class ClientRunner {
 public:
  /// Throws MachineError if this build has no server, or no scripts.
  explicit ClientRunner(std::chrono::milliseconds timeout);

  /// Starts a server, and a client of it under the allocator that asks for `size_bytes` at a time. The result's
  /// status and reason report any failure; the only exception is Stop.
  [[nodiscard]] ClientResult run(const Allocator& allocator, const Client& client, std::uint64_t size_bytes) const;

 private:
  std::chrono::milliseconds timeout_;
  std::string server_;
  std::string scripts_;
  std::optional<std::string> python_;  ///< one that has the modules of every client, if there is one
};

}  // namespace zerotax::clients
