#include "clients/clients.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "base/nearest.h"
#include "os/helper_process.h"
#include "os/unique_fd.h"
#include "run/allocators.h"
#include "run/experiment.h"
#include "run/helper_program.h"
#include "run/interrupt.h"
#include "run/probe_identity.h"

namespace zerotax::clients {

void ClientResult::set(const Measured<ClientRates>& rates) {
  const auto set_field = [&](auto& field, auto ClientRates::*rate) {
    if (rates) {
      field = (*rates).*rate;
    } else {
      field = NotAvailable{rates.why()};
    }
  };
  set_field(versions, &ClientRates::versions);
  set_field(ops, &ClientRates::ops);
  set_field(received_bytes, &ClientRates::received_bytes);
  set_field(mb_per_s, &ClientRates::mb_per_s);
  set_field(cpu_s_per_gb, &ClientRates::cpu_s_per_gb);
  set_field(faults_per_mb, &ClientRates::faults_per_mb);
  set_field(max_resident_bytes, &ClientRates::max_resident_bytes);
}

Json clients_json(const Clients& clients) { return clients; }
Clients read_clients(const Json& json) { return json.get<Clients>(); }

Clients clients_of(const Json& run) {
  Json json = run;
  json["clients"] = json["results"] = Json::array();
  json["state"] = Completion::kComplete;
  Clients clients = json.get<Clients>();
  clients.schema = "zerotax.clients/1";
  clients.zerotax_version = ZEROTAX_VERSION;
  return clients;
}

std::optional<ClientRates> rates_from_line(const std::string& line) {
  try {
    const Json said = Json::parse(line);
    const double wall_s = said.at("wall_s");
    const double cpu_s = said.at("cpu_s");
    const double faults = said.at("faults");
    ClientRates rates;
    said.at("versions").get_to(rates.versions);
    said.at("ops").get_to(rates.ops);
    said.at("received_bytes").get_to(rates.received_bytes);
    said.at("max_resident_bytes").get_to(rates.max_resident_bytes);
    const auto received = static_cast<double>(rates.received_bytes);
    rates.mb_per_s = received / 1e6 / wall_s;
    rates.cpu_s_per_gb = cpu_s / (received / 1e9);
    rates.faults_per_mb = faults / (received / 1e6);
    return rates;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

namespace {

/// Stores the certificate in a file without a name, which the client opens as /proc/self/fd/N.
UniqueFd file_of(const char* text) {
  UniqueFd file(::memfd_create("zerotax-certificate", MFD_CLOEXEC));
  const std::size_t length = std::strlen(text);
  if (!file || ::write(file.get(), text, length) != static_cast<ssize_t>(length)) return {};
  return file;
}

/// Returns the result of find_python() for a set of modules. Keeps the result, because importing modules takes time.
std::optional<std::string> python_with(const std::vector<std::string>& modules) {
  static std::map<std::vector<std::string>, std::optional<std::string>> known;
  const auto found = known.find(modules);
  return found != known.end() ? found->second : known.emplace(modules, find_python(modules)).first->second;
}

/// Returns the modules of all clients together. A Python must have all these modules, so that all clients run in the
/// same Python.
std::vector<std::string> all_modules() {
  std::vector<std::string> modules;
  for (const Client& client : all_clients()) {
    for (const std::string& module : client.modules) {
      if (std::find(modules.begin(), modules.end(), module) == modules.end()) modules.push_back(module);
    }
  }
  return modules;
}

/// Returns a client. `modules` are names of Python modules, from which the names of Debian's packages are derived.
Client client(std::string name, std::string summary, std::vector<std::string> modules, bool http, std::string heading) {
  std::string packages;
  for (const std::string& module : modules) packages += (packages.empty() ? "python3-" : " python3-") + module;
  std::transform(packages.begin(), packages.end(), packages.begin(), ::tolower);
  return {std::move(name), std::move(summary), std::move(modules), std::move(packages), http, std::move(heading)};
}

ClientResult ended(ClientResult result, PointStatus status, std::string reason) {
  result.status = status;
  result.set(NotAvailable{fmt::format("{}: {}", word_of(status), reason)});
  if (!reason.empty()) result.reason = std::move(reason);
  return result;
}

}  // namespace

const std::vector<Client>& all_clients() {
  static const std::vector<Client> all{
      client("cffi_1_9", "malloc and memset for each recv, as CFFI did up to 1.9", {"cffi"}, false, "cffi 1.9"),
      client("cffi_new", "CFFI's ffi.new for each recv: calloc", {"cffi"}, false, "cffi new"),
      client("cffi_no_clear", "should_clear_after_alloc=False: malloc alone", {"cffi"}, false, "cffi no clr"),
      client("pyopenssl_recv", "Connection.recv, as installed", {"OpenSSL"}, false, "pyOSSL recv"),
      client("requests_chunks", "iter_content, as installed", {"requests"}, true, "requ. ssl"),
      client("requests_pyopenssl", "iter_content over pyOpenSSL, as installed", {"requests", "OpenSSL"}, true,
             "requ. pyOSSL"),
      client("requests_2016", "the download of 2016: iter_content over cffi_1_9", {"requests", "OpenSSL", "cffi"}, true,
             "requ. 2016"),
  };
  return all;
}

std::vector<std::string> client_names() {
  std::vector<std::string> names;
  for (const Client& client : all_clients()) names.push_back(client.name);
  return names;
}

std::vector<Client> chosen_clients(const std::vector<std::string>& names) {
  if (names.empty()) return all_clients();
  std::vector<Client> chosen;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(all_clients().begin(), all_clients().end(), [&](const Client& each) { return each.name == name; });
    if (found == all_clients().end()) refuse_word(fmt::format("unknown client '{}'", name), name, client_names());
    chosen.push_back(*found);
  }
  return chosen;
}

ClientRunner::ClientRunner(std::chrono::milliseconds timeout)
    : timeout_(timeout),
      server_(helper_program("recv-server")),
      scripts_(folder_of_scripts("clients", "cases/recv_buffer/clients", "receiving.py")) {
  if (!std::filesystem::exists(server_)) {
    throw MachineError("this build has no server for the clients", "install libssl-dev, then build again");
  }
  if (scripts_.empty()) {
    throw MachineError("the clients' scripts were not found", "run zerotax from the source tree in which it was built");
  }
  python_ = find_python(all_modules());
}

ClientResult ClientRunner::run(const Allocator& allocator, const Client& client, std::uint64_t size_bytes) const {
  const auto library = library_to_preload(allocator);
  ClientResult result;
  result.allocator = allocator.name;
  result.version = version_json(allocator).get<Measured<std::string>>();
  if (library) result.preload = *library;
  result.env = allocator.env;
  result.client = client.name;
  result.size_bytes = size_bytes;
  // A client with the requests library holds a whole chunk and a copy of the chunk.
  const std::string too_large = why_too_large(2 * size_bytes);
  if (!too_large.empty()) return ended(result, PointStatus::kSkipped, too_large);
  const auto python = python_ ? python_ : python_with(client.modules);
  if (!python) {
    return ended(
        result, PointStatus::kSkipped,
        fmt::format("no python3 has {} (apt-get install {})", fmt::join(client.modules, " and "), client.packages));
  }

  HelperProcess server;
  if (const char* why = server.start(server_.c_str(), client.http ? "https" : "tls")) {
    return ended(result, PointStatus::kFailed, why);
  }
  const char* pem = std::strstr(server.greeting(), "-----BEGIN");
  const UniqueFd certificate = file_of(pem != nullptr ? pem : "");
  int port = 0;
  std::sscanf(server.greeting(), "port=%d", &port);

  ChildCommand command;
  command.program = "/usr/bin/env";
  command.arguments = {*python,
                       "-B",
                       "-W",
                       "ignore",
                       fmt::format("{}/{}.py", scripts_, client.name),
                       fmt::format("--port={}", port),
                       fmt::format("--certificate=/proc/self/fd/{}", certificate.get()),
                       fmt::format("--size={}", size_bytes)};
  command.inherited_fd = certificate.get();
  command.capture = true;
  command.timeout = timeout_;
  command.resident_limit = resident_limit(2 * size_bytes);
  for (const auto& entry : allocator.env) command.environment.emplace_back(entry);
  if (library) command.environment.emplace_back("LD_PRELOAD", *library);
  const ChildResult child = run_child(command, stop_requested);
  end_if_stopped();
  const ChildVerdict verdict = judge(child, timeout_);
  if (verdict.status != "ok") {
    return ended(result, status_of_word(verdict.status).value_or(PointStatus::kFailed), verdict.reason);
  }
  const auto rates = rates_from_line(child.output);
  if (!rates) return ended(result, PointStatus::kFailed, "it printed no results: " + last_line(child.errors));
  result.set(*rates);
  return result;
}

}  // namespace zerotax::clients
