#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "base/json.h"
#include "point/plan.h"
#include "point/typed_point.h"

namespace zerotax::clients {

/// Measurements that a client makes of itself.
struct ClientRates {
  std::map<std::string, std::string> versions;
  std::uint64_t ops = 0;
  std::uint64_t received_bytes = 0;
  double mb_per_s = 0;
  double cpu_s_per_gb = 0;
  double faults_per_mb = 0;
  std::uint64_t max_resident_bytes = 0;
};

struct ClientResult {
  RESULT("result", "Result of a client under an allocator, for one size.");
  FIELD(std::string, allocator, "Name of the allocator, as given to --allocator.");
  FIELD(Measured<std::string>, version, "Version of the allocator, or the reason why it is unknown.");
  FIELD(OrNull<std::string>, preload,
        "Path of the library that was preloaded into the client; null for the C library's own malloc.");
  MEMBER(env, "Environment variables that configure the allocator.", kMayBeEmpty);
  std::map<std::string, std::string> env;
  FIELD(std::string, client, "Name of the client.");
  FIELD(std::uint64_t, size_bytes, "Bytes that the client requests at a time.", least(1));
  FIELD(
      PointStatus, status,
      "Outcome of the run. skipped: the client cannot run on this machine, for example because Python lacks a module.",
      one_of("ok|failed|crashed|timeout|skipped"));
  FIELD(OrNull<std::string>, reason, "The reason for a status other than ok; null if the status is ok.");
  MEMBER(versions, "Versions of the Python packages in use, by name.", kMayBeEmpty);
  Measured<std::map<std::string, std::string>> versions;
  FIELD(Measured<std::uint64_t>, ops,
        "Number of timed operations: receives, or chunks for a client that iterates over chunks.", least(1));
  FIELD(Measured<std::uint64_t>, received_bytes, "Total bytes received in these operations.", least(1));
  FIELD(Measured<double>, mb_per_s, "Megabytes received per second of wall time.");
  FIELD(Measured<double>, cpu_s_per_gb,
        "CPU time of the client's process in user mode and in the kernel, in seconds per gigabyte received.");
  FIELD(Measured<double>, faults_per_mb, "Minor page faults of the client's process per megabyte received.");
  FIELD(Measured<std::uint64_t>, max_resident_bytes,
        "Largest resident set of the process, in bytes. The value includes a buffer that was zeroed completely.");

  /// Sets all rates. If `rates` is n/a, every rate is n/a with the same reason.
  void set(const Measured<ClientRates>& rates);
};

/// A script in cases/recv_buffer/clients.
struct Client {
  RESULT("client", "A program that receives data as programs in practice do.");
  FIELD(std::string, name, "Name of the client, as given to --client.");
  FIELD(std::string, summary, "Description of the client, in one line.");
  FIELD(std::vector<std::string>, modules, "Python modules that the client needs.", least_items(1));
  FIELD(std::string, packages, "Debian packages that contain these modules.");
  // Members that are not in the document:
  bool http = false;    ///< needs an HTTPS server, not bare TLS
  std::string heading;  ///< heading of the client's column: two words of at most seven characters
};

struct Clients : DocumentHead {
  RESULT(
      "zerotax clients",
      "The document of zerotax clients --json: real programs that receive through TLS under each allocator, and the "
      "case recv_buffer at the same sizes. MB and GB are 10^6 and 10^9 bytes. A metric that could not be measured is "
      "{\"na\": \"why\"}, never 0.");
  SCHEMA_FIELD("zerotax.clients/1");
  VERSION_FIELD();
  FIELD(Completion, state, "State of the run: all clients ran, or the run was stopped early.");
  STARTED_FIELD();
  MEMBER(command, "The command line, verbatim.", kMayBeEmpty, least_items(1));
  ENVIRONMENT_FIELD();
  FIELD(Json, allocators, "The allocators under test, as the probes report them.",
        as_in("run.schema.json#/properties/allocators"));
  FIELD(std::vector<Client>, clients, "The clients that were requested.", least_items(1));
  FIELD(std::vector<ClientResult>, results,
        "One entry for each client, size and allocator, in the order in which they ran.");
  FIELD(Json, points, "The case recv_buffer under the same allocators, at the same sizes.",
        with(R"({"type": "array", "items": {"$ref": "point.schema.json"}})"));
};

Json clients_json(const Clients& clients);
Clients read_clients(const Json& json);

/// Creates the document with the head and the points from the run of the case (Session::json).
Clients clients_of(const Json& run);

/// Returns the rates in a client's output line (cases/recv_buffer/clients/receiving.py), or nothing if the line has no
/// rates.
std::optional<ClientRates> rates_from_line(const std::string& line);

/// Returns all clients in the order of the table's columns.
const std::vector<Client>& all_clients();

std::vector<std::string> client_names();

/// Returns the clients with these names, or all clients if no names are given. Throws UsageError for an unknown name.
std::vector<Client> chosen_clients(const std::vector<std::string>& names);

/// Runs clients with the server and the scripts that they need.
class ClientRunner {
 public:
  /// Throws MachineError if this build lacks the server or the scripts.
  explicit ClientRunner(std::chrono::milliseconds timeout);

  /// Starts a server and a client under the allocator. The client requests `size_bytes` at a time. Failures are
  /// reported as the result's status and reason. Throws only Stop.
  [[nodiscard]] ClientResult run(const Allocator& allocator, const Client& client, std::uint64_t size_bytes) const;

 private:
  std::chrono::milliseconds timeout_;
  std::string server_;
  std::string scripts_;
  std::optional<std::string> python_;  ///< Python that has the modules of all clients; empty if there is none
};

/// Returns the default output, which fits one screen. `points` are the points of recv_buffer in the document.
Answer clients_answer(const Clients& clients, const std::vector<Point>& points);

}  // namespace zerotax::clients
