#include "runtime/relay/switchboard.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/relay/plain_stream.hpp"

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
      make_(below.streams() ? below.streams() : plain()) {
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
    put(x.to, x.what, std::move(x.body));
}

// ---- as a hub ---------------------------------------------------------------

void relaying_transport::switchboard::be_hub() {
  guard lock{mutex_};
  hub_ = true;
}

void relaying_transport::switchboard::belongs(connection_id id,
                                              const peer_id& who, bool is_hub) {
  guard lock{mutex_};
  auto line = lines_.find(id);
  if (line == lines_.end())
    return;
  line->second.is_hub = is_hub;
  desk_.met(id, who, line->second.remote.host);
}

void relaying_transport::switchboard::note_owing() {
  if (desk_.owes() && !std::exchange(owing_, true))
    later(owes_);
}

bool relaying_transport::switchboard::give_credit() {
  guard lock{mutex_};
  put(desk_.look(now_()));
  owing_ = desk_.owes();
  const bool again = owing_;
  work(lock);
  return again;
}

// ---- what comes -------------------------------------------------------------

void relaying_transport::switchboard::met(connection_id id,
                                          const address& remote,
                                          const peer_id& proven) {
  guard lock{mutex_};
  lines_[id].remote = remote;
  if (!proven.empty())
    desk_.met(id, proven, remote.host);
}

void relaying_transport::switchboard::on_accepted(connection_id id,
                                                  const address& remote,
                                                  const peer_id& proven) {
  met(id, remote, proven);
  to_->on_accepted(id, remote, proven);
}

void relaying_transport::switchboard::on_connected(connection_id id,
                                                   const address& remote,
                                                   const peer_id& proven) {
  met(id, remote, proven);
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
  std::vector<connection_id> lost;
  for (auto& [number, x] : circuits_)
    if (x.hub == id)
      lost.push_back(number);
  for (auto number : lost)
    end(circuits_.find(number), "the line to the hub ended: " + reason, false);
  lines_.erase(id);
  work(lock);
  lock.unlock();
  to_->on_closed(id, reason);
}

void relaying_transport::switchboard::read(connection_id from,
                                           const circuit_open& x) {
  if (x.answer) {
    if (auto it = at(from, x.circuit, false);
        it != circuits_.end() && it->second.host.empty())
      it->second.host = x.host;
    return;
  }
  if (!desk_.take_number(from, x.circuit)) {
    if (auto old = at(from, x.circuit, true); old != circuits_.end())
      end(old, "the hub used a circuit's number twice", false);
    put(desk_.close(from, {x.circuit, true, "a circuit's number came twice"}));
    return put(from,
               circuit_close{x.circuit, false,
                             "this number was used for a circuit before"});
  }
  auto& line = lines_.at(from);
  // Of two hubs either may ask the other; who is no guest here has opened one.
  if (hub_ && !(line.is_hub && !desk_.has_guest(x.peer)))
    return put(desk_.open(from, x, now_()));
  drop_stale(from);
  if (line.unproven >= limits::unproven_circuits)
    return put(from, circuit_close{x.circuit, false,
                                   "too many circuits wait for a proof"});
  ++line.unproven;
  auto fresh = add(from, x.circuit, false, x.host);
  tell(fresh, fresh->second.end->begin());
}

void relaying_transport::switchboard::read(connection_id from,
                                           const circuit_data& x,
                                           const shared_bytes& body) {
  if (desk_.has(from, x.circuit, x.opened_here)) {
    put(desk_.pass(from, x, body));
    return note_owing();
  }
  if (auto it = at(from, x.circuit, x.opened_here); it != circuits_.end())
    tell(it, it->second.end->take(body));
}

void relaying_transport::switchboard::read(connection_id from,
                                           const circuit_credit& x) {
  auto it = at(from, x.circuit, x.opened_here);
  if (it == circuits_.end())
    return;
  if (it->second.end->grant(x.bytes))
    flush(it);
  else
    end(it, "the hub gave more credit than there is", true);
}

void relaying_transport::switchboard::read(connection_id from,
                                           const circuit_close& x) {
  if (desk_.has(from, x.circuit, x.opened_here))
    return put(desk_.close(from, x));
  if (auto it = at(from, x.circuit, x.opened_here); it != circuits_.end())
    end(it, x.reason.empty() ? "the other side closed the circuit" : x.reason,
        false);
}

// ---- the circuits that end here ---------------------------------------------

relaying_transport::switchboard::circuits::iterator
relaying_transport::switchboard::add(connection_id hub, std::uint32_t number,
                                     bool here, const std::string& host) {
  const auto id = next_++;
  places_[{hub, number, here}] = id;
  circuit x{hub,  number, here,
            host, now_(), std::make_unique<circuit_end>(here, make_)};
  return circuits_.emplace(id, std::move(x)).first;
}

relaying_transport::switchboard::circuits::iterator
relaying_transport::switchboard::at(connection_id from, std::uint32_t number,
                                    bool opened_here) {
  // What its sender opened, we did not.
  auto found = places_.find({from, number, !opened_here});
  return found == places_.end() ? circuits_.end()
                                : circuits_.find(found->second);
}

connection_id relaying_transport::switchboard::dial_through(connection_id hub,
                                                            const peer_id& to) {
  guard lock{mutex_};
  if (stopped_)
    return next_++;
  if (lines_.count(hub) == 0) {
    const auto id = next_++;
    later(
        [to = to_, id] { to->on_closed(id, "the line to the hub has ended"); });
    work(lock);
    return id;
  }
  auto fresh = add(hub, desk_.next_number(hub), true);
  const auto id = fresh->first;
  put(hub, circuit_open{fresh->second.number, to});
  tell(fresh, fresh->second.end->begin());
  work(lock);
  return id;
}

/// Those that came, and of which nothing was proven in time.
void relaying_transport::switchboard::drop_stale(connection_id hub) {
  std::vector<connection_id> stale;
  const auto now = now_();
  for (auto& [id, x] : circuits_)
    if (x.hub == hub && !x.opened_here && !x.end->open()
        && now - x.since > limits::circuit_patience)
      stale.push_back(id);
  for (auto id : stale)
    end(circuits_.find(id), "nobody has proven anything in time", true);
}

void relaying_transport::switchboard::tell(circuits::iterator x,
                                           circuit_end::news news) {
  const auto id = x->first;
  if (news.proven) {
    const bool here = x->second.opened_here;
    if (!here)
      --lines_.at(x->second.hub).unproven;
    later([to = to_, id, here, seen = address{x->second.host, 0},
           who = *news.proven] {
      here ? to->on_connected(id, seen, who) : to->on_accepted(id, seen, who);
    });
  }
  for (auto& frame : news.frames)
    later([to = to_, id, frame = std::move(frame)]() mutable {
      to->on_frame(id, std::move(frame));
    });
  flush(x);
  if (!news.over.empty())
    end(x, news.over, true);
}

void relaying_transport::switchboard::flush(circuits::iterator x) {
  auto& it = x->second;
  for (auto piece = it.end->next(); !piece.empty(); piece = it.end->next()) {
    auto owner = std::make_shared<std::vector<std::uint8_t>>(std::move(piece));
    const auto* bytes = owner->data();
    const auto size = owner->size();
    put(it.hub, circuit_data{it.number, it.opened_here},
        {std::move(owner), bytes, size});
  }
}

void relaying_transport::switchboard::end(circuits::iterator x,
                                          const std::string& reason,
                                          bool tell_hub) {
  const auto id = x->first;
  auto& it = x->second;
  if (tell_hub)
    put(it.hub, circuit_close{it.number, it.opened_here, reason});
  if (!it.opened_here && !it.end->open())
    --lines_.at(it.hub).unproven;
  // One that came and proved nothing nobody has heard of.
  if (it.opened_here || it.end->open())
    later([to = to_, id, reason] { to->on_closed(id, reason); });
  places_.erase({it.hub, it.number, it.opened_here});
  circuits_.erase(x);
}

void relaying_transport::switchboard::send(connection_id id,
                                           outgoing_frame frame) {
  guard lock{mutex_};
  auto x = circuits_.find(id);
  if (x == circuits_.end())
    return;
  if (auto problem = x->second.end->push(std::move(frame)); !problem.empty())
    end(x, problem, true);
  else
    flush(x);
  work(lock);
}

void relaying_transport::switchboard::close(connection_id id) {
  guard lock{mutex_};
  auto x = circuits_.find(id);
  if (x == circuits_.end())
    return;
  x->second.end->finish();
  flush(x);
  end(x, "closed here", true);
  work(lock);
}

void relaying_transport::switchboard::stop() {
  guard lock{mutex_};
  if (std::exchange(stopped_, true))
    return;
  while (!circuits_.empty())
    end(circuits_.begin(), "the transport was stopped", false);
  work(lock);
}

void relaying_transport::switchboard::forget_listener() {
  guard lock{mutex_};
  to_.reset();
}

} // namespace potluck
