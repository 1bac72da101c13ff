/// What a person sees of the demonstration: on a terminal the peers side by
/// side, drawn again in place; elsewhere plain lines.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace potluck::tools {

/// One peer's row. What is not known is NaN, or 0 for `step` and `peers`.
struct peer_view {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  std::string name;
  std::string role;
  std::string phase;
  std::uint64_t step = 0;
  double loss = unknown;
  double share = unknown;              ///< Of the last step's samples, 0 to 1.
  double samples_per_second = unknown; ///< Its own part of the whole.
  std::uint64_t peers = 0;             ///< That averaged the last step.
};

/// The peers as an aligned table, a line each behind the head's two.
std::string peer_table(const std::vector<peer_view>& peers);

/// The run as a whole.
struct run_view {
  std::uint64_t step = 0;
  std::uint64_t steps = 0;
  double loss = peer_view::unknown;
  double samples_per_second = peer_view::unknown;
  double seconds = 0; ///< Since the demonstration began.
};

/// "step 12 of 40 [######..............]  loss 6.2  150 samples/s  31 s"
std::string run_line(const run_view& run);

class demo_screen {
public:
  /// @param quiet Shows nothing at all, for programs that read our output.
  explicit demo_screen(bool quiet = false);

  /// Something that happened: stays on the screen.
  void say(const std::string& message);

  /// How things are. Without a terminal a line now and then, as steps go by.
  void show(const std::vector<peer_view>& peers, const run_view& run);

  /// Wipes the live part; the caller prints on.
  void close();

private:
  void wipe();
  void draw();

  bool quiet_;
  bool live_;
  std::string drawn_;      ///< The live part as it should be; may be empty.
  std::size_t lines_ = 0;  ///< That it takes on the screen now.
  std::uint64_t told_ = 0; ///< Twentieths of the steps that lines told of.
};

} // namespace potluck::tools
