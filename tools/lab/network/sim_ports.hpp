/// Who listens where in the simulated network. By turns at the same time.
/// Private to this folder.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "messages/contact.hpp"
#include "messages/expected.hpp"

namespace potluck {

struct sim_endpoint;

class sim_ports {
public:
  /// @param where Its port, or 0 for a free one. Fails when it is taken.
  expected<address> open(const std::string& host, const address& where,
                         const std::shared_ptr<sim_endpoint>& by) {
    std::lock_guard guard{mutex_};
    auto port = where.port;
    if (port == 0)
      for (port = 1000; open_.count({host, port});)
        ++port;
    if (!open_.emplace(address{host, port}, by).second)
      return failure{"Cannot listen on " + to_string(where)
                     + ": the address is in use; choose another port."};
    return address{where.host, port};
  }

  void close(const address& where, const std::shared_ptr<sim_endpoint>& by) {
    std::lock_guard guard{mutex_};
    auto found = open_.find(where);
    if (found != open_.end() && found->second == by)
      open_.erase(found);
  }

  /// Null when nobody listens there.
  std::shared_ptr<sim_endpoint> at(const address& where) {
    std::lock_guard guard{mutex_};
    auto found = open_.find(where);
    return found == open_.end() ? nullptr : found->second;
  }

private:
  std::mutex mutex_;
  std::map<address, std::shared_ptr<sim_endpoint>> open_;
};

} // namespace potluck
