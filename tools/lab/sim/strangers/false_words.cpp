// Manners of trainers that take part in groups, and say in the round what is
// not so.

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/packing/packing.hpp"
#include "tools/lab/sim/strangers/manner.hpp"

namespace potluck::simulation {

namespace {

using line = stranger::line;

/// That it answers an invitation with.
constexpr std::uint64_t samples = 8;

/// Level with the others by what it says, it accepts every invitation.
class false_words : public manner {
public:
  void opened(stranger& me, line& on) override {
    tell(me, on);
  }
  void tries(stranger& me) override {
    if (++tries_ % tries_a_report == 0)
      tell_all(me);
  }
  void heard(stranger& me, line& on, const message& what,
             const incoming_frame&) override {
    if (auto theirs = std::get_if<progress_report>(&what)) {
      if (theirs->role == role::trainer && theirs->step > step_) {
        step_ = theirs->step;
        tell_all(me);
      }
    } else if (auto invited = std::get_if<group_invite>(&what)) {
      group_answer yes;
      yes.group = invited->group;
      yes.accepted = true;
      yes.samples = samples;
      yes.loss_sum = 1;
      me.say(on, yes);
    } else if (auto start = std::get_if<group_start>(&what)) {
      const auto& all = start->contract.members;
      const auto own
          = std::find_if(all.begin(), all.end(), [&](const group_member& x) {
              return x.who.id == me.id_of(on.self);
            });
      if (own != all.end())
        for (auto* to : me.open_lines())
          if (to->self == on.self)
            begins(me, *to, start->contract,
                   static_cast<std::uint32_t>(own - all.begin()));
    }
  }

protected:
  /// A round that it is in has begun; for each of its lines.
  /// @param place Its index in the contract.
  virtual void begins(stranger& me, const line& to,
                      const group_contract& contract, std::uint32_t place)
      = 0;

private:
  static void tell(stranger& me, const line& on) {
    if (me.heard().reports().empty())
      return;
    auto x = me.report_of(me.id_of(on.self), me.where(on.self));
    x.phase = phase::accumulating;
    x.samples = samples;
    x.samples_per_second = 100;
    me.say(on, x);
  }
  static void tell_all(stranger& me) {
    for (auto* on : me.open_lines())
      tell(me, *on);
  }

  unsigned tries_ = 0;
  std::uint64_t step_ = 0;
};

/// Takes the lead of each round as it begins, as if the leader were lost, and
/// calls it off.
class calls_off : public false_words {
  void begins(stranger& me, const line& to, const group_contract& contract,
              std::uint32_t place) override {
    me.say(to, round_settle{contract.group, place});
    round_verdict off;
    off.group = contract.group;
    off.epoch = place;
    me.say(to, off);
  }
};

/// Says that it has all means, which are others than everybody else's, and
/// sends nothing.
class made_up_means : public false_words {
  void begins(stranger& me, const line& to, const group_contract& contract,
              std::uint32_t) override {
    round_prepared x;
    x.group = contract.group;
    for (auto& byte : x.mean.bytes)
      byte = static_cast<std::uint8_t>(1 + me.chance().below(255));
    x.least_samples = x.most_samples = 256;
    me.say(to, x);
  }
};

/// Sends nothing, and says all the time that it has all means.
class talks : public false_words {
  void begins(stranger&, const line&, const group_contract& contract,
              std::uint32_t) override {
    group_ = contract.group;
  }
  void tries(stranger& me) override {
    false_words::tries(me);
    round_prepared x;
    x.group = group_;
    x.mean.bytes.fill(7);
    x.least_samples = x.most_samples = 256;
    if (!group_.empty())
      for (auto* on : me.open_lines())
        me.say(*on, x);
  }

  group_id group_;
};

/// Says as each round begins that means are committed which nobody made.
class commits : public false_words {
  void begins(stranger& me, const line& to, const group_contract& contract,
              std::uint32_t) override {
    round_standing x;
    x.group = contract.group;
    x.standing = standing::committed;
    x.mean.bytes.fill(7);
    x.least_samples = x.most_samples = 256;
    me.say(to, x);
  }
};

/// Says as each round begins that it has given it up.
class gives_up : public false_words {
  void begins(stranger& me, const line& to, const group_contract& contract,
              std::uint32_t) override {
    round_standing x;
    x.group = contract.group;
    x.standing = standing::aborted;
    me.say(to, x);
  }
};

/// Takes the lead of each round as it begins, and never rules.
class freezes : public false_words {
  void begins(stranger& me, const line& to, const group_contract& contract,
              std::uint32_t place) override {
    me.say(to, round_settle{contract.group, place});
  }
};

/// Sends its parts one at a time, for each chunk to everybody, who is its
/// reducer or not.
class trickles : public false_words {
  void begins(stranger&, const line&, const group_contract& contract,
              std::uint32_t place) override {
    if (contract_.group == contract.group)
      return; // For another of its lines.
    contract_ = contract;
    samples_ = contract.members[place].samples;
    next_ = 0;
  }
  void tries(stranger& me) override {
    false_words::tries(me);
    const auto first = std::uint64_t{next_} * contract_.chunk_values;
    if (contract_.group.empty() || first >= contract_.gradient_values)
      return;
    const auto values = std::make_shared<std::vector<float>>(
        std::min(contract_.gradient_values - first,
                 std::uint64_t{contract_.chunk_values}));
    // Honest but for the time that it takes: of each sample one is counted.
    values->front() = static_cast<float>(samples_);
    chunk_part x;
    x.group = contract_.group;
    x.chunk = next_++;
    x.samples = samples_;
    const auto body
        = packed_body(packing::float32, values, values->data(), values->size());
    for (auto* on : me.open_lines())
      me.say(*on, x, body);
  }

  group_contract contract_;
  std::uint64_t samples_ = 0;
  std::uint32_t next_ = 0; ///< Chunk.
};

} // namespace

manner_makers false_words() {
  return {
      {"calls_off", make<calls_off>}, {"made_up_means", make<made_up_means>},
      {"talks", make<talks>},         {"commits", make<commits>},
      {"gives_up", make<gives_up>},   {"freezes", make<freezes>},
      {"trickles", make<trickles>}};
}

} // namespace potluck::simulation
