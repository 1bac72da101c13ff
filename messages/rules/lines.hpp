/// What peers MUST say about lines between them: reach, circuits and holes.
#pragma once

#include <vector>

#include "messages/limits.hpp"
#include "messages/lines.hpp"
#include "messages/rules/rules.hpp"

namespace potluck::checks {

inline void dialled(rules& must, const address& x) {
  must.where(x);
  must.hold(!x.host.empty(), "the host to connect to is missing");
  must.hold(x.port != 0, "the port to connect to is missing");
}

inline void check(rules& must, const reach_request& x) {
  must.hold(x.port != 0, "the port to connect to is missing");
}

inline void check(rules& must, const reach_errand& x) {
  must.contact_of(x.who);
  dialled(must, x.who.where);
}

inline void check(rules& must, const circuit_open& x) {
  must.hold(!x.peer.empty(), "the circuit's other end is missing");
  must.host(x.host);
}

inline void check(rules& must, const circuit_credit& x) {
  must.hold(x.bytes > 0, "the credit is zero");
  must.hold(x.bytes <= max_circuit_credit, "the credit is too large");
}

inline void check(rules& must, const circuit_close& x) {
  must.text(x.reason, max_sentence_bytes, "the reason");
}

inline void check(rules& must, const hole_connect& x) {
  for (const auto* all : {&x.seen, &x.local}) {
    must.hold(all->size() <= max_own_addresses, "there are too many addresses");
    for (const auto& where : *all)
      dialled(must, where);
  }
}

} // namespace potluck::checks
