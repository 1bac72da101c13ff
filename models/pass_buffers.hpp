/// The buffers of a network where it is trained: the peer's own, or tensors of
/// the run. Private to this folder, since it includes LibTorch.
///
/// A pass changes copies. What it has changed them by is added to the peer's
/// own, or goes into the run's gradient.
#pragma once

#include <mutex>
#include <vector>

#include "models/network.hpp"

namespace potluck {

class pass_buffers {
public:
  /// The peer's own ones begin as the network says, unless the run has them.
  pass_buffers(const network& model, at::Device device);

  /// As they are now: never changed, but replaced.
  /// @param leaves The run's tensors.
  std::vector<at::Tensor> now(const std::vector<at::Tensor>& leaves) const;

  /// What a pass has done.
  /// @param changes One tensor for each buffer: its value behind the pass minus
  ///                that before.
  /// @returns What is to be subtracted from the run's gradient for each sample
  ///          of the pass: one tensor for each of the run's, undefined for
  ///          parameters. Nothing where the buffers are the peer's own.
  std::vector<at::Tensor> settle(const std::vector<at::Tensor>& changes);

private:
  bool averaged_;
  std::size_t parameters_; ///< Tensors before the buffers.
  mutable std::mutex busy_;
  std::vector<at::Tensor> own_;
};

} // namespace potluck
