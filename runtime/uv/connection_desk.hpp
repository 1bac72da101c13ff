/// All connections of a transport, with what they share: the listening sockets,
/// the faces, the caps, and the limits on strangers.
///
/// Lives on the loop's thread, but for what says otherwise; `uv_transport` is
/// how other threads get there.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/strangers/stranger_desk.hpp"
#include "runtime/uv/connection.hpp"
#include "runtime/uv/event_loop.hpp"
#include "runtime/uv/listening.hpp"

namespace potluck {

class connection_desk final : public connection_hub,
                              public event_loop::handler {
public:
  /// @param options With a key, unless insecure. @param loop Not started yet.
  connection_desk(uv_transport_options options,
                  std::shared_ptr<event_loop> loop);
  ~connection_desk() override;

  // ---- from any thread

  connection_id new_id() {
    return next_id_++;
  }
  /// The face of the transport's own key. What of it is never replaced may be
  /// read.
  const shared_face& main() const {
    return faces_.main();
  }
  bool is_main(const shared_face& who) const {
    return faces_.is_main(who);
  }
  /// Null: nothing is encrypted.
  const std::shared_ptr<tls_context>& tls() const {
    return shared_.tls;
  }
  transport_traffic traffic() const {
    return {shared_.sent, shared_.received};
  }
  /// Where it listens, if it does: the first of its addresses.
  std::optional<address> listens_at() const {
    return listening_.first();
  }

  // ---- its beginning and end

  /// First of all, once.
  void begin();
  /// Ends all connections and closes all handles.
  void stop();

  /// A face takes part from now on.
  void enter(const shared_face& who) {
    faces_.add(who);
  }
  /// It does not: its connections end. Without the main one nobody is listened
  /// to.
  void leave(const shared_face& who);
  void listen(const address& where, listening::answer done) {
    listening_.listen(where, std::move(done));
  }

  // ---- one connection. What is said of an unknown one has no effect.

  /// Its face is told what becomes of it, unless that has left.
  void dial(connection_id id, const shared_face& who, const address& where,
            const peer_id& expected);
  void punch(connection_id id, const shared_face& who, const address& where,
             bool begins);
  void close(connection_id id, std::chrono::milliseconds linger);
  void plan_window(connection_id id, const planned_window& x);
  void hold(connection_id id, bool yes);
  void no_stranger(connection_id id);

  // ---- connection_hub

  uv_loop_t* loop() override {
    return loop_->uv();
  }
  const uv_transport_options& options() const override {
    return options_;
  }
  socket_context& shared() override {
    return shared_;
  }
  std::function<void()> resumer(connection_id id) override;
  void opened(connection_id id, const address& remote, const peer_id& proven,
              bool dialled) override;
  bool large_frame(connection_id id, std::size_t bytes) override;
  void large_frame_over(connection_id id) override;
  void ended(connection_id id, std::string reason) override;

  // ---- event_loop::handler

  void on_posted_frame(connection_id id, outgoing_frame frame) override;
  void on_all_handled() override;

private:
  connection* find(connection_id id);
  framed_socket* socket_of(connection_id id);
  connection& add(connection_id id);
  void accept(tcp_socket socket);
  /// Connections of which more are only there for dials and members.
  std::size_t room_for_knocks() const;
  void forget(connection_id id);
  void forget_punch(connection_id id);

  // What strangers hold (runtime/strangers).
  void note_unread(const connection& x, connection_id id);
  void count_unread(connection_id id);
  void part_with_deaf();
  void read_large();
  void part_with_too_many();

  // What passes.
  void look_later();
  void look();
  upload_gate::bytes_of_each under_way();

  const uv_transport_options options_;
  const std::shared_ptr<event_loop> loop_;
  std::atomic<connection_id> next_id_{1};
  socket_context shared_;
  listening listening_;
  stranger_desk strangers_;
  std::optional<timer> look_;
  time_point last_look_{};
  face_list faces_;
  std::unordered_map<connection_id, std::unique_ptr<connection>> connections_;
  std::map<address, connection_id> punches_; ///< Without a proven peer yet.
  std::vector<connection_id> unflushed_;
};

} // namespace potluck
