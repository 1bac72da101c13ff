/// All subcommands as one program: `potluck-full`, or one with models of its
/// own.
#pragma once

namespace potluck::tools {

/// What `main` does. May start the program anew (blas_kernels.hpp).
int run_program(int argc, char** argv);

} // namespace potluck::tools
