/// Which of several connections with one peer to use, and when what comes on
/// one may be read: so that a direct connection takes over from a circuit
/// without a frame that is lost or overtaken.
///
/// As soon as a side has both, it says `line_switch` on the circuit, once, and
/// sends on the direct connection from then on. The other side reads what comes
/// there when it has heard that word on every circuit that it knows. A circuit
/// on which both have said it is closed. Pure.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/ports/transport.hpp"
#include "runtime/relay/relaying_transport.hpp"

namespace potluck {

class line_order {
public:
  /// @returns Where to say `line_switch` now.
  std::vector<connection_id> add(connection_id id) {
    all_.push_back({id, relaying_transport::is_circuit(id)});
    std::vector<connection_id> result;
    if (direct())
      for (auto& x : all_)
        if (x.circuit && !std::exchange(x.said, true))
          result.push_back(x.id);
    return result;
  }
  /// The connection is gone. @returns Whether letters may be lost with it, or
  /// nothing is left that others read: then the session is over.
  bool remove(connection_id id) {
    auto found = find(id);
    if (found == all_.end())
      return all_.empty();
    const auto gone = *found;
    all_.erase(found);
    if (all_.empty() || (gone.used && !(gone.said && gone.heard)))
      return true;
    return !direct()
           && std::any_of(all_.begin(), all_.end(),
                          [](const line& x) { return x.said; });
  }

  /// Whether one is there already that is as good as this one.
  bool repeats(connection_id id) const {
    return !all_.empty() && (direct() || relaying_transport::is_circuit(id));
  }

  /// The one to send on: the first direct one, or the first of all; 0: none.
  connection_id way() const {
    for (const auto& x : all_)
      if (!x.circuit)
        return x.id;
    return all_.empty() ? 0 : all_.front().id;
  }
  bool direct() const {
    return std::any_of(all_.begin(), all_.end(),
                       [](const line& x) { return !x.circuit; });
  }
  /// Letters went or came on it.
  void use(connection_id id) {
    if (auto x = find(id); x != all_.end())
      x->used = true;
  }
  /// What came on it is to be read later: the other side may still send on a
  /// circuit.
  bool holds(connection_id id) const {
    return !relaying_transport::is_circuit(id)
           && std::any_of(all_.begin(), all_.end(),
                          [](const line& x) { return x.circuit && !x.heard; });
  }
  /// The other side has said `line_switch` on it.
  void switched(connection_id id) {
    if (auto x = find(id); x != all_.end())
      x->heard = true;
  }
  /// Circuits of no use any more.
  std::vector<connection_id> spent() const {
    std::vector<connection_id> result;
    for (const auto& x : all_)
      if (x.said && x.heard)
        result.push_back(x.id);
    return result;
  }
  std::vector<connection_id> all() const {
    std::vector<connection_id> result;
    for (const auto& x : all_)
      result.push_back(x.id);
    return result;
  }
  void clear() {
    all_.clear();
  }

private:
  struct line {
    connection_id id = 0;
    bool circuit = false;
    bool used = false;
    bool said = false;  ///< `line_switch`, by us;
    bool heard = false; ///< by the other side.
  };

  std::vector<line>::iterator find(connection_id id) {
    return std::find_if(all_.begin(), all_.end(),
                        [&](const line& x) { return x.id == id; });
  }

  std::vector<line> all_; ///< In the order in which they opened.
};

} // namespace potluck
