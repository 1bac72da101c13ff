/// The owner's side of `potluck-script`: a file of TorchScript that is
/// described or computed where it can do no harm. Torch-free.
///
/// Whatever it answers is checked (script_answers.hpp); what it writes into the
/// gradient may be anything.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "models/script/script_answers.hpp"
#include "models/script/script_protocol.hpp"
#include "runtime/sandbox/lent_memory.hpp"
#include "runtime/sandbox/sandboxed_program.hpp"

namespace potluck {

struct script_terms {
  int threads = 1;
  /// For activations, and for the file while it is read; 0: half of this
  /// machine's memory.
  std::uint64_t memory_bytes = 0;
  /// For an answer.
  std::chrono::milliseconds patience = scripting::patience;
};

/// Reads, and runs nothing but what loading takes. Fails with half a sentence
/// that follows the file's name: "is no TorchScript file: ...".
/// @param averages Whether buffers are tensors of the run.
expected<described_script> describe_script(const std::string& file,
                                           bool averages = false,
                                           const script_terms& how = {});

class script_program {
public:
  /// Starts it with this file, whose forward has to have these arguments and
  /// which has to have these tensors. Fails like `describe_script`.
  static expected<script_program> open(const std::string& file,
                                       const std::vector<std::string>& inputs,
                                       const model_layout& layout,
                                       const script_terms& how);

  /// What `pass` reads, and what it adds to: as the layout has them.
  float* parameters() const {
    return static_cast<float*>(memory_.data());
  }
  float* gradient() const {
    return parameters() + scripting::gradient_offset(values_) / sizeof(float);
  }

  /// @param batch A tensor for each input, by `append_tensor_head` and its
  /// values. Fails like `describe_script`; when it was not forward that failed
  /// in some orderly way, the program is gone, and the gradient is anything.
  /// @param cancelled Ends the program when it becomes true.
  expected<script_outcome> pass(const scripting::pass_head& how,
                                const std::string& batch,
                                const std::atomic<bool>& cancelled);

  bool is_there() const {
    return program_.is_there();
  }

private:
  script_program(sandboxed_program program, lent_memory memory,
                 std::uint64_t values)
      : program_(std::move(program)), memory_(std::move(memory)),
        values_(values) {
  }

  sandboxed_program program_;
  lent_memory memory_;
  std::uint64_t values_;
};

void append_tensor_head(std::string& out, scripting::element type,
                        const std::vector<std::int64_t>& shape);

} // namespace potluck
