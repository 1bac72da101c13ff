#include "runtime/relay/switchboard.hpp"

#include <utility>

#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/relay/plain_stream.hpp"
#include "runtime/strangers/letter_cost.hpp"

namespace potluck {

namespace {

using guard = std::unique_lock<std::mutex>;

/// Longer heads are none of a circuit's.
constexpr std::size_t longest_head = max_sentence_bytes + 200;

/// Whether it is worth to be decoded here.
bool may_be_of_a_circuit(const incoming_frame& x) {
  if (x.head.size() > longest_head || x.body.size > max_circuit_bytes)
    return false;
  static const auto first = message{circuit_open{}}.index();
  static const auto last = message{circuit_close{}}.index();
  const auto index = likely_index(x.head.data(), x.head.size());
  return index >= first && index <= last;
}

stream_maker plain() {
  return [](bool begins, frame_stream_listener& to) {
    return std::make_unique<plain_stream>(begins, to);
  };
}

} // namespace

relaying_transport::switchboard::switchboard(transport& below,
                                             std::function<time_point()> now,
                                             std::function<void()> owes)
    : below_(below), now_(std::move(now)), owes_(std::move(owes)),
      ends_(circuit_bit + 1, below.streams() ? below.streams() : plain(),
            *this) {
}

void relaying_transport::switchboard::work(guard& lock) {
  if (std::exchange(working_, true))
    return;
  while (!todo_.empty()) {
    auto what = std::move(todo_.front());
    todo_.pop_front();
    lock.unlock();
    what();
    what = {}; // What it owned may call us as it goes.
    lock.lock();
  }
  working_ = false;
}

void relaying_transport::switchboard::put(connection_id to, const message& what,
                                          shared_bytes body) {
  if (stopped_)
    return;
  later([this, to, frame = outgoing_frame{encode(what), std::move(body)}] {
    below_.send(to, frame);
  });
}

void relaying_transport::switchboard::put(circuit_desk::sendings all) {
  for (auto& x : all)
    if (x.ends)
      later([this, id = x.to] { below_.close(id, 0); });
    else
      put(x.to, x.what, std::move(x.body));
}

// ---- as a hub ---------------------------------------------------------------

void relaying_transport::switchboard::be_hub(bool is,
                                             const limits::hub_budget& budget) {
  guard lock{mutex_};
  if (is && !hub_)
    desk_.budget(budget);
  hub_ = is;
}

void relaying_transport::switchboard::rest(bool rests) {
  guard lock{mutex_};
  desk_.rest(rests);
}

void relaying_transport::switchboard::only_for(circuit_desk::admits whom) {
  guard lock{mutex_};
  desk_.only_for(std::move(whom));
}

void relaying_transport::switchboard::belongs(connection_id id,
                                              const peer_id& who,
                                              const std::string& run) {
  guard lock{mutex_};
  auto line = lines_.find(id);
  if (line == lines_.end())
    return;
  desk_.met(id, who, line->second.remote.host);
  put(desk_.welcome(id, run));
  work(lock);
}

void relaying_transport::switchboard::trusts(connection_id id) {
  guard lock{mutex_};
  if (const auto at = lines_.find(id); at != lines_.end())
    at->second.trusted = true;
}

void relaying_transport::switchboard::pay(connection_id from,
                                          const message& what) {
  auto& x = lines_.at(from);
  if (!x.letters)
    x.letters = std::make_unique<letter_allowance>(x.remote.host, homes_);
  switch (x.letters->take(cost_of(what, x.trusted), x.trusted, now_())) {
    case letter_allowance::verdict::read:
      return;
    case letter_allowance::verdict::dropped:
      // A circuit's bytes cannot be left out: what has come is passed on.
      if (!x.silenced_until)
        later([this, from] { below_.hold(from, true); });
      x.silenced_until = now_() + limits::letters_pause;
      return look_later();
    case letter_allowance::verdict::gross:
      return later([this, from] { below_.close(from, 0); });
  }
}

bool relaying_transport::switchboard::read_on() {
  bool waits = false;
  for (auto& [id, x] : lines_)
    if (x.silenced_until && now_() < *x.silenced_until) {
      waits = true;
    } else if (x.silenced_until) {
      x.silenced_until.reset();
      later([this, id = id] { below_.hold(id, false); });
    }
  return waits;
}

void relaying_transport::switchboard::note_owing() {
  if (desk_.owes())
    look_later();
}

void relaying_transport::switchboard::look_later() {
  if (!std::exchange(owing_, true))
    later(owes_);
}

bool relaying_transport::switchboard::give_credit() {
  guard lock{mutex_};
  put(desk_.look(now_()));
  const bool waits = ends_.end_late(now_());
  const bool silenced = read_on();
  owing_ = desk_.owes() || waits || silenced;
  const bool again = owing_;
  work(lock);
  return again;
}

// ---- what comes -------------------------------------------------------------

void relaying_transport::switchboard::met(connection_id id,
                                          const address& remote, bool dialled,
                                          const peer_id& proven) {
  guard lock{mutex_};
  lines_[id].remote = remote;
  lines_[id].dialled = dialled;
  if (!proven.empty())
    desk_.met(id, proven, remote.host);
}

void relaying_transport::switchboard::on_accepted(connection_id id,
                                                  const address& remote,
                                                  const peer_id& proven) {
  met(id, remote, false, proven);
  to_->on_accepted(id, remote, proven);
}

void relaying_transport::switchboard::on_connected(connection_id id,
                                                   const address& remote,
                                                   const peer_id& proven) {
  met(id, remote, true, proven);
  to_->on_connected(id, remote, proven);
}

void relaying_transport::switchboard::on_frame(connection_id id,
                                               incoming_frame frame) {
  if (!may_be_of_a_circuit(frame))
    return to_->on_frame(id, std::move(frame));
  auto content = decode(frame.head.data(), frame.head.size(), frame.body.size);
  if (!content) // Whoever reads letters says so.
    return to_->on_frame(id, std::move(frame));
  guard lock{mutex_};
  if (stopped_ || lines_.count(id) == 0)
    return;
  if (auto* data = std::get_if<circuit_data>(&*content))
    read(id, *data, frame.body);
  else if (auto* open = std::get_if<circuit_open>(&*content))
    read(id, *open);
  else if (auto* credit = std::get_if<circuit_credit>(&*content))
    read(id, *credit);
  else if (auto* close = std::get_if<circuit_close>(&*content))
    read(id, *close);
  work(lock);
}

void relaying_transport::switchboard::on_closed(connection_id id,
                                                const std::string& reason) {
  guard lock{mutex_};
  put(desk_.gone(id));
  ends_.lose(id, reason);
  lines_.erase(id);
  work(lock);
  lock.unlock();
  to_->on_closed(id, reason);
}

void relaying_transport::switchboard::read(connection_id from, circuit_open x) {
  if (x.answer) {
    pay(from, x);
    ends_.answered(from, x);
    return;
  }
  if (!desk_.take_number(from, x.circuit)) {
    pay(from, x);
    ends_.repeats(from, x.circuit);
    put(desk_.close(from, {x.circuit, true, "a circuit's number came twice"}));
    return put(from,
               circuit_close{x.circuit, false,
                             "this number was used for a circuit before"});
  }
  // Of two hubs either may ask the other. Only a hub says where the peer is.
  if (x.host.empty()) {
    pay(from, x);
    return put(hub_ ? desk_.open(from, x, now_())
                    : circuit_desk::sendings{
                        {from, circuit_close{x.circuit, false,
                                             "this peer is no hub"}}});
  }
  // Hubs are those that this peer dials. Whoever came in may be its own hub,
  // and say that its circuits lead from anywhere.
  const auto& line = lines_.at(from);
  if (!line.dialled)
    x.host = line.remote.host;
  if (ends_.come(from, line.remote.host, x, now_()))
    look_later(); // It may prove nothing.
}

void relaying_transport::switchboard::read(connection_id from,
                                           const circuit_data& x,
                                           const shared_bytes& body) {
  if (desk_.has(from, x.circuit, x.opened_here)) {
    pay(from, x);
    put(desk_.pass(from, x, body, now_()));
    return note_owing();
  }
  if (!ends_.take(from, x, body))
    pay(from, x);
}

void relaying_transport::switchboard::read(connection_id from,
                                           const circuit_credit& x) {
  if (!ends_.grant(from, x))
    pay(from, x);
}

void relaying_transport::switchboard::read(connection_id from,
                                           const circuit_close& x) {
  if (desk_.has(from, x.circuit, x.opened_here)) {
    pay(from, x);
    return put(desk_.close(from, x));
  }
  if (!ends_.closed(from, x))
    pay(from, x);
}

// ---- circuits that end here -------------------------------------------------

connection_id relaying_transport::switchboard::dial_through(connection_id hub,
                                                            const peer_id& to) {
  guard lock{mutex_};
  if (stopped_)
    return ends_.unused_id();
  connection_id id = 0;
  if (lines_.count(hub) == 0) {
    id = ends_.unused_id();
    circuit_ended(id, "the line to the hub has ended");
  } else {
    id = ends_.open(hub, desk_.next_number(hub), to, now_());
  }
  work(lock);
  return id;
}

void relaying_transport::switchboard::send(connection_id id,
                                           outgoing_frame frame) {
  guard lock{mutex_};
  ends_.send(id, std::move(frame));
  work(lock);
}

void relaying_transport::switchboard::close(connection_id id,
                                            std::uint32_t linger_ms) {
  guard lock{mutex_};
  const auto now = now_();
  if (ends_.close(id, now + std::chrono::milliseconds{linger_ms}, now))
    look_later();
  work(lock);
}

void relaying_transport::switchboard::circuit_opened(connection_id id,
                                                     bool opened_here,
                                                     const address& seen,
                                                     const peer_id& proven) {
  later([to = to_, id, opened_here, seen, proven] {
    opened_here ? to->on_connected(id, seen, proven)
                : to->on_accepted(id, seen, proven);
  });
}

void relaying_transport::switchboard::circuit_brought(connection_id id,
                                                      incoming_frame frame) {
  later([to = to_, id, frame = std::move(frame)]() mutable {
    to->on_frame(id, std::move(frame));
  });
}

void relaying_transport::switchboard::circuit_ended(connection_id id,
                                                    const std::string& reason) {
  later([to = to_, id, reason] { to->on_closed(id, reason); });
}

// ---- the end ---------------------------------------------------------------

void relaying_transport::switchboard::stop() {
  guard lock{mutex_};
  if (std::exchange(stopped_, true))
    return;
  ends_.end_all("the transport was stopped");
  work(lock);
}

void relaying_transport::switchboard::forget_listener() {
  guard lock{mutex_};
  to_.reset();
}

} // namespace potluck
