#include "runtime/membership/guest_book.hpp"

#include <algorithm>
#include <utility>

#include "messages/limits.hpp"
#include "runtime/dht/routing_table.hpp"
#include "runtime/dialable.hpp"

namespace potluck {

namespace {

/// On the internet a router may be before whoever has not found out that there
/// is none: look-ups would wait for dials in vain, one after the other.
bool may_be_dialled(const contact& who, role what, reach found) {
  return what == role::bootstrap || !is_public(who.where.host)
         || is_open(found);
}

} // namespace

void guest_book::note(guest& g, bool contributes, bool routes) {
  if (contributes)
    near_.erase(g.who.id);
  else
    near_.insert(g.who.id);
  if (g.is_partner && !contributes)
    near_partners_.insert(g.who.id);
  else
    near_partners_.erase(g.who.id);
  routing_ += routes;
  routing_ -= g.routes;
  g.contributes = contributes;
  g.routes = routes;
}

/// Whether fewer are here than a record has replicas.
bool guest_book::wants_nodes() const {
  return newcomers_route_ && routing_ < bucket_size;
}

const guest_book::guest&
guest_book::joined(const contact& who, potluck::role what, time_point now) {
  // A contributor says so with its first report, which trainers hear at once:
  // those that name it to others meanwhile would have them call at it.
  auto routes
      = may_be_dialled(who, what, reach::unknown)
        && (what != role::trainer || (own_ != role::trainer && wants_nodes()));
  auto& g = guests_[who.id];
  g.who = who;
  g.role = what;
  g.since = now;
  g.is_partner = partners_.has(who.id);
  note(g, false, routes);
  return g;
}

void guest_book::line(const contact& who, bool relayed, bool is_hub) {
  auto at = guests_.find(who.id);
  if (at == guests_.end())
    return;
  auto& g = at->second;
  g.who = who;
  g.relayed = relayed;
  g.is_hub = is_hub;
  if (relayed)
    note(g, g.contributes, false);
}

bool guest_book::leads_here(const guest& g) {
  if (g.relayed)
    return false;
  if (g.role == role::trainer) // Its hello may be older than what it knows.
    return g.open && !g.contributes;
  return g.is_hub && (g.role == role::bootstrap || g.role == role::auxiliary);
}

std::vector<contact> guest_book::hubs() const {
  std::vector<const guest*> all;
  for (auto& [id, g] : guests_)
    if (leads_here(g) && dialable(g.who))
      all.push_back(&g);
  std::stable_sort(all.begin(), all.end(), [](auto* a, auto* b) {
    const auto order = [](auto* x) {
      return std::make_tuple(!x->is_seed, x->role == role::trainer, x->since);
    };
    return order(a) < order(b);
  });
  std::vector<contact> result;
  for (auto* g : all)
    if (result.size() < max_hubs)
      result.push_back(g->who);
  return result;
}

void guest_book::left(const peer_id& who) {
  auto at = guests_.find(who);
  if (at == guests_.end())
    return;
  note(at->second, false, false);
  near_.erase(who);
  near_partners_.erase(who);
  guests_.erase(at);
}

void guest_book::works_with(const peer_id& who) {
  partners_.add(who);
  const auto at = guests_.find(who);
  if (at == guests_.end() || at->second.is_partner)
    return;
  at->second.is_partner = true;
  note(at->second, at->second.contributes, at->second.routes);
}

guest_book::change guest_book::heard(const progress_report& x) {
  auto& g = guests_.at(x.id);
  const auto first = !std::exchange(g.heard, true);
  // One that contributes closes what it does not need: nobody should look for
  // records there.
  const auto routes
      = !x.contributes && !g.relayed && may_be_dialled(g.who, g.role, x.reach)
        && (g.routes || x.phase != phase::joining || wants_nodes());
  // It may have been a node when it was here before.
  const auto known_for_one = g.routes || (first && x.contributes);
  auto result = change::none;
  if (routes && !g.routes)
    result = change::routes;
  else if (!routes && known_for_one)
    result = change::routes_no_more;
  note(g, x.contributes, routes);
  g.averages = !x.contributes && x.phase != phase::joining
               && x.phase != phase::founding && x.phase != phase::finished;
  g.in_own_cell = x.contributes && x.sponsor == self_;
  g.open = x.where.port != 0 && is_open(x.reach);
  return result;
}

bool guest_book::heard_anybody() const {
  return std::any_of(guests_.begin(), guests_.end(),
                     [](const auto& g) { return g.second.heard; });
}

} // namespace potluck
