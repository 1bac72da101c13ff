#include "runtime/relay/relaying_transport.hpp"

#include "runtime/relay/switchboard.hpp"

namespace potluck {

relaying_transport::relaying_transport(std::unique_ptr<transport> below,
                                       std::function<time_point()> now,
                                       std::function<void()> owes)
    : below_(std::move(below)), board_(std::make_shared<switchboard>(
                                    *below_, std::move(now), std::move(owes))) {
}

relaying_transport::~relaying_transport() {
  stop();
}

void relaying_transport::be_hub(bool is, const limits::hub_budget& budget) {
  board_->be_hub(is, budget);
}

void relaying_transport::rest(bool rests) {
  board_->rest(rests);
}

void relaying_transport::only_for(
    std::function<bool(const peer_id& who, const std::string& run)> admits) {
  board_->only_for(std::move(admits));
}

void relaying_transport::belongs(connection_id id, const peer_id& who,
                                 const std::string& run) {
  if (!is_circuit(id))
    board_->belongs(id, who, run);
}

connection_id relaying_transport::dial_through(connection_id hub,
                                               const peer_id& to) {
  return board_->dial_through(hub, to);
}

bool relaying_transport::give_credit() {
  return board_->give_credit();
}

void relaying_transport::start(std::shared_ptr<transport_listener> listener) {
  board_->begin(std::move(listener));
  below_->start(board_);
}

expected<address> relaying_transport::listen(const address& where) {
  return below_->listen(where);
}

connection_id relaying_transport::dial(const address& where,
                                       const peer_id& expected) {
  return below_->dial(where, expected);
}

connection_id relaying_transport::punch(const address& at, bool begins) {
  return below_->punch(at, begins);
}

stream_maker relaying_transport::streams() {
  return below_->streams();
}

std::vector<address> relaying_transport::local_addresses() const {
  return below_->local_addresses();
}

void relaying_transport::send(connection_id id, outgoing_frame frame) {
  if (is_circuit(id))
    board_->send(id, std::move(frame));
  else
    below_->send(id, std::move(frame));
}

void relaying_transport::close(connection_id id, std::uint32_t linger_ms) {
  if (is_circuit(id))
    board_->close(id, linger_ms);
  else
    below_->close(id, linger_ms);
}

void relaying_transport::plan_window(connection_id id,
                                     const planned_window& x) {
  if (!is_circuit(id))
    below_->plan_window(id, x);
}

void relaying_transport::hold(connection_id id, bool yes) {
  if (!is_circuit(id))
    below_->hold(id, yes);
}

void relaying_transport::no_stranger(connection_id id) {
  if (is_circuit(id))
    return;
  below_->no_stranger(id);
  board_->trusts(id);
}

transport_traffic relaying_transport::traffic() const {
  return below_->traffic();
}

void relaying_transport::stop() {
  board_->stop();
  below_->stop();
  board_->forget_listener();
}

} // namespace potluck
