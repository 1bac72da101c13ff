/// Members that will not work with each other, and who of them stays out.
#pragma once

#include <map>
#include <set>

#include "messages/ids.hpp"

namespace potluck {

/// Of each member, the leader included, whom it avoids.
using aversions = std::map<peer_id, std::set<peer_id>>;

/// Whom a leader leaves out of its group, so that all who stay can work with
/// each other:
///
/// - whom more than half of all the others avoid;
/// - of each pair that is left, one by lot. A member of many pairs draws the
///   shorter straw more often: with p pairs against q, p times in p + q. A liar
///   whom several have found out is nearly always out, and one that claims to
///   avoid everybody is too; an honest one that a liar avoids stays half of the
///   time. Both in one group would cost every member the round's patience, for
///   they take each other for lost. With the leader itself it is the other one.
///
/// Who is named but no member counts for nothing. Equal arguments give equal
/// results; a fresh `group` for each attempt is the lot.
std::set<peer_id> left_out(const peer_id& leader, const aversions& members,
                           const group_id& group);

} // namespace potluck
