#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "clients/result.h"
#include "core/allocators.h"

namespace zerotax::clients {

/// A program that receives, as it is used in practice: one script in cases/recv_buffer/clients.
struct Client {
  std::string name;                  ///< as in --client; the script without its ".py"
  std::string summary;               ///< one line
  std::vector<std::string> modules;  ///< of Python
  std::string packages;              ///< of Debian, that bring the modules
  bool http;                         ///< wants an HTTPS server, not bare TLS
  std::string heading[2];            ///< of its column, two lines of seven characters at most
};

/// Every client, in the order of the table's columns.
const std::vector<Client>& all_clients();

/// Those of the names, or all. Throws UsageError for an unknown name.
std::vector<Client> chosen_clients(const std::vector<std::string>& names);

/// The document "zerotax.clients/1" (results/schema/clients.schema.json) from the run of the case (Session::json), the
/// clients that were asked for, and what ClientRunner::run gave.
Json clients_json(const Json& run, const std::vector<Client>& clients, const std::vector<ClientResult>& results,
                  bool complete);

/// What runs of the clients need besides the allocator.
class ClientRunner {
 public:
  /// `stop` as in run_child. Throws MachineError if this build has no server, or no scripts.
  ClientRunner(std::chrono::milliseconds timeout, std::function<bool()> stop);

  /// Starts a server, and a client of it under the allocator that asks for `size_bytes` at a time. What goes
  /// wrong is the result's status and reason, never an exception.
  [[nodiscard]] ClientResult run(const Allocator& allocator, const Client& client, std::uint64_t size_bytes) const;

 private:
  std::chrono::milliseconds timeout_;
  std::function<bool()> stop_;
  std::string server_;
  std::string scripts_;
  std::optional<std::string> python_;  ///< one that has the modules of every client, if there is one
};

}  // namespace zerotax::clients
