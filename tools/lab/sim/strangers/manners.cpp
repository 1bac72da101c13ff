#include <map>
#include <stdexcept>

#include "tools/lab/sim/strangers/manner.hpp"

namespace potluck::simulation {

owned_manner make_manner(const std::string& name) {
  static const std::map<std::string, owned_manner (*)()> makers{
      {"finishers", make_finishers},
      {"long_history", make_long_history},
      {"impersonator", make_impersonator},
      {"phantoms", make_phantoms},
      {"names_others", make_names_others},
      {"sybils", make_sybils},
      {"unread", make_unread},
      {"short_bodies", make_short_bodies},
      {"idle", make_idle},
      {"identities", make_identities},
      {"far_step", make_far_step},
      {"auxiliaries", make_auxiliaries},
      {"big_claim", make_big_claim},
      {"never_leads", make_never_leads},
      {"empty_handed", make_empty_handed},
      {"fresh_keys", make_fresh_keys},
      {"false_leaders", make_false_leaders},
      {"turncoats", make_turncoats},
      {"last_moment", make_last_moment},
      {"mutator", make_mutator},
      {"uninvited", make_uninvited},
      {"calls_off", make_calls_off},
      {"made_up_means", make_made_up_means},
      {"talks", make_talks},
      {"commits", make_commits},
      {"gives_up", make_gives_up},
      {"freezes", make_freezes},
      {"trickles", make_trickles},
  };
  const auto found = makers.find(name);
  if (found == makers.end())
    throw std::invalid_argument{"There is no manner of strangers " + name
                                + "."};
  return found->second();
}

} // namespace potluck::simulation
