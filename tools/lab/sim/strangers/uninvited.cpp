// The manner of strangers that want the parameters of a run which has not
// admitted them.

#include "runtime/admission/admission.hpp"
#include "runtime/admission/admission_claim.hpp"
#include "runtime/manifest/run_key.hpp"
#include "tools/lab/sim/strangers/manner.hpp"

namespace potluck::simulation {

namespace {

using line = stranger::line;

/// Says that it is a trainer that has just come, shows what is no admission of
/// its own, and asks for everything that holds parameters.
class uninvited : public manner {
public:
  void opened(stranger& me, line& on) override {
    me.say(on, newcomer(me, on));
    ask(me, on);
  }

  void tries(stranger& me) override {
    auto* on = me.any_line();
    if (on == nullptr)
      return;
    switch (me.chance().below(6)) {
      case 0: // By a key that is nobody's authority,
        return me.say(*on, admission_shown{forged(me, on->self)});
      case 1: // of somebody else,
        return me.say(*on, admission_shown{overheard(me)});
      case 2: // or nothing of the kind.
        return me.say(*on, admission_shown{"let me in"});
      case 3:
        return claim(me, *on);
      case 4:
        return me.say(*on, newcomer(me, *on));
      default:
        return ask(me, *on);
    }
  }

  /// Whoever is invited comes.
  void heard(stranger& me, line& on, const message& what,
             const incoming_frame&) override {
    if (auto to = std::get_if<group_invite>(&what)) {
      group_answer yes;
      yes.group = to->group;
      yes.accepted = true;
      yes.samples = 1;
      me.say(on, yes);
    }
  }

private:
  static progress_report newcomer(stranger& me, const line& on) {
    auto x = me.report_of(me.id_of(on.self), me.where(on.self));
    x.phase = phase::joining;
    x.step = 0;
    x.history_samples = 0;
    x.samples = 0;
    x.state = {};
    return x;
  }

  static void ask(stranger& me, const line& on) {
    const auto best = me.report_of({}, {});
    if (best.state.empty())
      return;
    me.say(on, state_request{me.chance().next(), best.step, best.state, false,
                             false});
    me.say(on, piece_request{best.state, 0, false, 0});
  }

  static std::string forged(stranger& me, std::size_t self) {
    const auto now = me.config().wall_clock();
    return to_bytes(issue(
        {id_in(me.config().run), me.id_of(self), now, now + 3'600'000, {}, {}},
        *me.key_of(self)));
  }

  static std::string overheard(stranger& me) {
    const auto& all = me.heard().admissions();
    return all.empty() ? "" : all[me.chance().below(all.size())];
  }

  /// Guesses a code, or has a member vouch for somebody else's token.
  static void claim(stranger& me, const line& on) {
    admission_claim x;
    for (auto& byte : x.code.bytes)
      byte = static_cast<std::uint8_t>(me.chance().next());
    x.last = overheard(me);
    me.say(on, admission_request{1, me.config().run, to_bytes(x)});
  }
};

} // namespace

manner_makers uninvited_company() {
  return {{"uninvited", make<uninvited>}};
}

} // namespace potluck::simulation
