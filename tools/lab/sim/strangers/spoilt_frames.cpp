// Manners of strangers for which the bytes matter: answers that nobody reads,
// bodies of the wrong size, and flipped bits.

#include <algorithm>
#include <deque>

#include "messages/codec.hpp"
#include "tools/lab/sim/strangers/manner.hpp"

namespace potluck::simulation {

namespace {

using line = stranger::line;

/// Of the pieces that the short bodies stand for.
constexpr std::size_t whole_body = 256 * 1024;
/// Frames that the mutator remembers.
constexpr std::size_t most_frames = 256;
/// Flips that are tried until a frame is one that peers read.
constexpr unsigned most_flips = 32;

shared_bytes body_of(std::vector<std::uint8_t> bytes) {
  auto kept = std::make_shared<std::vector<std::uint8_t>>(std::move(bytes));
  return {kept, kept->data(), kept->size()};
}

class unread : public manner {
  bool reads() const override {
    return false;
  }
  void tries(stranger& me) override {
    auto on = me.any_line();
    if (!on)
      return;
    find_records x;
    x.token = me.chance().next();
    x.key = me.run_key();
    me.say(*on, x);
  }
};

class short_bodies : public manner {
  void tries(stranger& me) override {
    auto on = me.any_line();
    if (!on)
      return;
    if (!body_.data)
      body_ = body_of(std::vector<std::uint8_t>(whole_body - 1));
    auto& chance = me.chance();
    chunk_mean mean;
    mean.group = chance.draw<group_id>();
    mean.samples = 1;
    const std::vector<message> kinds{chunk_part{mean.group, 0, 1}, mean,
                                     state_piece{chance.draw<digest>(), 0},
                                     charter_reply{chance.next()},
                                     heartbeat{chance.next()}};
    me.say(*on, kinds[chance.below(kinds.size())], body_);
  }

  shared_bytes body_;
};

class mutator : public manner {
  void opened(stranger& me, line& on) override {
    keep({encode(me.report_of(me.id_of(on.self), me.where(on.self))), {}});
    keep({encode(find_records{me.chance().next(), me.run_key(), {}, {}, 0}),
          {}});
    keep({encode(find_nodes{me.chance().next(), me.run_key(), {}}), {}});
    keep({encode(charter_request{me.chance().next(), me.config().run}), {}});
    keep({encode(state_request{me.chance().next(), 0, {}, false, false}), {}});
  }

  void heard(stranger& me, line& on, const message& what,
             const incoming_frame& frame) override {
    if (auto ping = std::get_if<routing_ping>(&what))
      me.say(on, routing_pong{ping->token});
    else if (auto to = std::get_if<group_invite>(&what))
      keep({encode(group_answer{to->group, true, {}, 1, 1, 1e6, 1e6}), {}});
    keep({frame.head, frame.body});
  }

  void tries(stranger& me) override {
    auto on = me.any_line();
    if (!on || frames_.empty())
      return;
    auto& chance = me.chance();
    auto x = frames_[chance.below(frames_.size())];
    // One in eight is not one that peers read, which costs the line.
    if (chance.below(8) == 0)
      flip(x.head, chance);
    else
      change_fields(x, chance);
    if (x.body.size > 0 && chance.below(2) == 0) {
      std::vector<std::uint8_t> bytes(x.body.data, x.body.data + x.body.size);
      flip(bytes, chance);
      x.body = body_of(std::move(bytes));
    }
    me.say(*on, std::move(x));
  }

  static void flip(std::vector<std::uint8_t>& bytes, random_stream& chance) {
    if (!bytes.empty())
      bytes[chance.below(bytes.size())]
          ^= static_cast<std::uint8_t>(1u << chance.below(8));
  }

  /// What decodes differs in its fields.
  static void change_fields(outgoing_frame& x, random_stream& chance) {
    for (unsigned i = 0; i < most_flips; ++i) {
      auto head = x.head;
      flip(head, chance);
      if (decode(head.data(), head.size(), x.body.size)) {
        x.head = std::move(head);
        if (chance.below(2) == 0)
          return;
      }
    }
  }

  void keep(outgoing_frame x) {
    frames_.push_back(std::move(x));
    if (frames_.size() > most_frames)
      frames_.pop_front();
  }

  std::deque<outgoing_frame> frames_;
};

} // namespace

manner_makers spoilt_frames() {
  return {{"unread", make<unread>},
          {"short_bodies", make<short_bodies>},
          {"mutator", make<mutator>}};
}

} // namespace potluck::simulation
