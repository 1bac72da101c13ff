/// A module of TorchScript that is loaded, described and computed: all that
/// knows LibTorch of `potluck-script`, and nothing of sandboxes.
///
/// Whoever would read another form of networks, such as the graphs that
/// torch.export writes (PyTorch deprecates TorchScript from 2.11 on), puts a
/// class with these functions in its place.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torch/csrc/jit/api/module.h>

#include "messages/expected.hpp"
#include "models/script/script_protocol.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

struct pass_result {
  double loss = 0; ///< Mean over the samples.
  /// Of an evaluation: what else the answer has of one value.
  std::vector<std::pair<std::string, double>> metrics = {};
};

class script_module {
public:
  /// Loads what `checked_archive` has left. Code of a file that was not checked
  /// runs meanwhile. Fails with half a sentence, as all here do.
  /// @param averages Its buffers of float32 are the run's, too.
  static expected<script_module> load(std::string_view archive, bool averages);

  /// The operators of forward, of all that it calls, that are not allowed.
  std::vector<std::string> refused_operators() const;

  /// The names of forward's arguments, all of which are tensors.
  expected<std::vector<std::string>> arguments() const;

  /// What is trained: parameters that require gradients, once if they are tied,
  /// under the names that PyTorch has for them. Behind them the run's buffers.
  expected<model_layout> layout() const;

  /// Copies the values of all these, as the layout has them.
  void copy_values(float* to) const;
  /// The file without their values: zeros in their shapes.
  std::string without_values();

  /// From now on parameters are read here, and gradients added there: `values`
  /// of the layout each, which outlive this object. Buffers of the run begin
  /// each pass as they are here; what a pass has changed them by, times its
  /// samples, is subtracted there.
  void use_memory(const float* parameters, float* gradient);

  /// Calls forward. In training adds the gradient of the sum of the samples'
  /// losses. Fails when forward does, and where its answer is no loss, or not
  /// finite; then nothing is added. Throws std::bad_alloc.
  expected<pass_result> pass(const scripting::pass_head& how,
                             std::vector<c10::IValue> batch);

private:
  struct trained {
    std::string name;
    at::Tensor values;
  };

  script_module(torch::jit::Module module, bool averages);

  /// Those of the run as they are now: forward may have put others there.
  expected<std::vector<at::Tensor>> buffers() const;
  expected<bool> put_buffers();
  expected<bool> add_changes(std::uint64_t samples);

  torch::jit::Module module_;
  std::vector<trained> trained_;
  std::vector<trained> averaged_; ///< Buffers, as the run has them.
  std::vector<at::Tensor> changes_;
  std::vector<at::Tensor> gradients_; ///< In the lent memory.
};

} // namespace potluck
