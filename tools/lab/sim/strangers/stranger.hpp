/// A machine of somebody who is not of the run: it has keys and an address of
/// its own and speaks to whoever can be dialled, in one manner.
///
/// No peer: it composes messages, signs what it invents with keys that it makes
/// up, and repeats or bends what others said. It keeps up its lines, says hello
/// and answers heartbeats, unless its manner is not to. It needs nothing but a
/// transport and somebody who tells the time, and is used by one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/message.hpp"
#include "runtime/ports/signatures.hpp"
#include "runtime/ports/transport.hpp"
#include "runtime/random.hpp"
#include "tools/lab/sim/strangers/overheard.hpp"

namespace potluck::simulation {

class manner;

struct stranger_config {
  std::string manner; ///< Of `stranger_manners()`.
  std::uint64_t seed = 1;
  double rate = 10;           ///< Tries a second.
  std::size_t identities = 1; ///< Keys, each with a transport.
  duration until = duration::max();
  std::string run;
  /// What a patient one finds out: where the run's peers are,
  std::vector<address> targets;
  /// and how many parameters their model has.
  std::size_t model_values = 1024;
  address listen; ///< The first key's; the others take the next ports.
  std::function<shared_signatures(random_stream&)> new_key;
  std::function<std::unique_ptr<transport>(const peer_id&)> make_transport;
  /// In milliseconds since 1970.
  std::function<std::uint64_t()> wall_clock;
  /// Hears of every letter that came, and whether parameters were in it, as
  /// gradients, means and states are; null: nobody does.
  std::function<void(bool parameters)> got;
};

class stranger {
public:
  /// A connection with a peer.
  struct line {
    std::size_t self = 0; ///< The identity whose it is.
    connection_id id = 0;
    address where;
    peer_id peer; ///< By its hello; empty before.
    potluck::role role = role::trainer;
    bool open = false; ///< Something can be said on it.
    std::size_t dialled = not_dialled;
  };
  static constexpr std::size_t not_dialled = std::size_t(-1);

  explicit stranger(stranger_config config);
  ~stranger();

  /// Does what is due at `now`, which never runs backwards.
  void run(duration now);
  /// When it wants to run again; nothing when it has ended.
  std::optional<duration> wake() const;
  /// Whether it reads what comes.
  bool reads() const;
  /// Closes all.
  void stop();
  bool stopped() const {
    return stopped_;
  }

  // ---- for its manner

  const stranger_config& config() const {
    return config_;
  }
  duration now() const {
    return now_;
  }
  random_stream& chance() {
    return chance_;
  }
  const overheard& heard() const {
    return heard_;
  }
  record_key run_key() const;

  std::size_t selves() const {
    return selves_.size();
  }
  const shared_signatures& key_of(std::size_t self) const;
  const peer_id& id_of(std::size_t self) const;
  /// Where that identity listens.
  address where(std::size_t self) const;
  /// An address of this machine where lines are taken and nothing is said.
  address silent() const;

  /// One of the open lines, by chance; null while there is none.
  line* any_line();
  std::vector<line*> open_lines();
  void say(const line& to, const message& what, shared_bytes body = {});
  void say(const line& to, outgoing_frame frame);
  void hang_up(line& x);

  /// A report like the best that was heard, by another peer.
  progress_report report_of(const peer_id& who, const address& where) const;
  /// It as a record under the run's key, sealed by that key.
  dht_record record_of(const progress_report& x,
                       const shared_signatures& by) const;
  /// Seals a record anew, whatever it says.
  void seal(dht_record& x, const shared_signatures& by) const;

private:
  class ear;
  struct identity {
    shared_signatures key;
    peer_id id;
    std::uint16_t port = 0;
    std::shared_ptr<ear> listener;
    std::unique_ptr<potluck::transport> lines;
  };
  struct happening {
    enum class what { taken, made, frame, closed };
    what kind = what::frame;
    std::size_t self = 0;
    connection_id id = 0;
    address remote;
    incoming_frame frame;
  };
  /// A place that one of its identities dials again and again.
  struct call {
    std::size_t self = 0;
    std::size_t target = 0;
  };
  using line_key = std::pair<std::size_t, connection_id>;

  void add_identity();
  void plan_calls();
  void dial(std::size_t call);
  void take(happening x);
  void begin(happening x);
  void read(line& on, const incoming_frame& frame);
  void greet(const line& to);
  bool is_mute(std::size_t self) const {
    return self + 1 == selves_.size();
  }

  const stranger_config config_;
  random_stream chance_;
  std::unique_ptr<manner> manner_;
  std::vector<identity> selves_; ///< The last one is the mute one.
  std::vector<call> calls_;
  std::multimap<duration, std::size_t> due_; ///< Calls, by when.
  std::map<line_key, std::size_t> dialling_; ///< Calls.
  std::map<line_key, line> lines_;
  std::vector<happening> news_;
  overheard heard_;
  duration now_{0};
  std::optional<duration> next_try_;
  bool stopped_ = false;
};

} // namespace potluck::simulation
