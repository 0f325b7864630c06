#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "core/point_status.h"

namespace zerotax::clients {

/// What a client measured of itself.
struct ClientRates {
  std::map<std::string, std::string> versions;  ///< of the Python packages in use
  std::uint64_t ops = 0;                        ///< timed operations
  std::uint64_t received_bytes = 0;
  double mb_per_s = 0;
  double cpu_s_per_gb = 0;
  double faults_per_mb = 0;
  std::uint64_t max_resident_bytes = 0;
};

/// A client under an allocator, with a size.
struct ClientResult {
  std::string allocator;
  Json version;                        ///< version_json()
  std::optional<std::string> preload;  ///< path of the library; nothing for the C library's own malloc
  std::map<std::string, std::string> env;
  std::string client;
  std::uint64_t size_bytes = 0;
  PointStatus status = PointStatus::kOk;  ///< never kNotZero or kMisaligned: nobody looks at the blocks
  std::string reason;                     ///< why the status is not ok
  std::optional<ClientRates> rates;       ///< nothing unless the status is ok
};

/// An element of "results" (results/schema/clients.schema.json).
Json to_json(const ClientResult& result);

/// The rates in the line that a client prints (cases/recv_buffer/clients/receiving.py); nothing if it is no such line.
std::optional<ClientRates> rates_from_line(const std::string& line);

}  // namespace zerotax::clients
