/// A short visit to some peers over real lines: what is alike for everybody who
/// comes, looks and leaves.
///
/// It dials, proves its key and says hello; who answers its first sign of life
/// has let it in. It answers signs of life itself, has no charter and no
/// amendments to give, and says goodbye in the end. What it came for is its
/// heirs'. Used by one thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "messages/expected.hpp"
#include "messages/message.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "tools/potluck/transport_news.hpp"

namespace potluck::tools {

class visit {
public:
  using clock = std::chrono::steady_clock;

  struct plan {
    uv_transport_options how; ///< With the visitor's key.
    /// As what it comes; the id, the addresses and the time are filled in.
    hello as;
    std::string goodbye = "has seen enough";
  };

  /// A connection that this visitor has dialled.
  struct line {
    connection_id id = 0;
    contact who; ///< Without an id until it has proven or said one.
    bool connected = false;
    bool welcomed = false; ///< It has let the visitor in.
    bool over = false;     ///< There is no connection any more.
    std::string refusal;   ///< The sentence with which it did not.
    std::string closed;    ///< Why it is over.
    std::optional<hello> said;
    clock::time_point since; ///< It was dialled; then: was asked for a sign.
    duration round_trip{0};
    std::vector<message> waiting; ///< Until it is welcome.

    /// Why nothing comes of it.
    std::string why() const;
    bool pending() const {
      return !welcomed && !over;
    }
    bool here() const {
      return welcomed && !over;
    }
  };

  explicit visit(plan how);
  virtual ~visit();

  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

  const peer_id& self() const {
    return self_;
  }

protected:
  /// So that others may dial it, too.
  expected<address> listen(const address& where) {
    return net_->listen(where);
  }
  transport& net() {
    return *net_;
  }
  /// Who has an id has to prove it.
  line& dial(const contact& who);
  /// Once it is welcome there.
  void say(line& to, const message& x, shared_bytes body = {});
  /// All that were dialled, by connection.
  std::map<connection_id, line>& lines() {
    return lines_;
  }
  std::vector<line*> guests();
  std::size_t count();
  bool anything_pending() const;

  /// Handles what happens until `done`, or the time is over.
  /// @returns Whether it is done.
  template <class Done>
  bool wait(clock::duration patience, Done done) {
    const auto end = clock::now() + patience;
    while (!done()) {
      if (clock::now() >= end)
        return false;
      if (auto x = box_->next(limit))
        handle(*x);
      idle();
    }
    return true;
  }

  /// It has let the visitor in.
  virtual void welcomed(line&) {
  }
  virtual void heard(line&, const message&, const shared_bytes&) {
  }
  virtual void ended(line&) {
  }
  /// Of connections that were not dialled here, or not by `dial`.
  virtual void other(const transport_news::item&) {
  }
  /// Several times a second.
  virtual void idle() {
  }

private:
  static constexpr auto limit = std::chrono::milliseconds{20};

  void handle(const transport_news::item& x);
  void opened(line& l, const transport_news::item& x);
  void read(line& l, const message& content, const shared_bytes& body);
  void end(line& l, const std::string& reason);

  plan plan_;
  peer_id self_;
  std::shared_ptr<transport_news> box_ = std::make_shared<transport_news>();
  std::unique_ptr<transport> net_;
  std::map<connection_id, line> lines_;
};

} // namespace potluck::tools
