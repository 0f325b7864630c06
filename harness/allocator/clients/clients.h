#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "clients/result.h"
#include "point/allocator.h"

namespace zerotax::clients {

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
