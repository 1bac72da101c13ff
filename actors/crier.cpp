#include "actors/crier.hpp"

namespace potluck {

void crier::tell_report(const report_heard& x, bool has_charter) {
  // With the charter here, the registrar has nothing to find out any more.
  if (!has_charter)
    tell(wired_.registrar, x);
  tell(wired_.hole_maker, x);
  tell(wired_.cell, x);
  tell(wired_.conductor, x);
}

void crier::tell_address(const address& where) {
  if (where == told_address_)
    return;
  told_address_ = where;
  tell(wired_.expert_host, reachable_at{where});
  tell(wired_.address_keeper, reachable_at{where});
  tell(wired_.beside, reachable_at{where});
}

} // namespace potluck
