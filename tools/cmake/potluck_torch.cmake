# LibTorch, from 1.13 on: its CMake package (Debian's libtorch-dev, or PyTorch's
# download for C++), or what PyTorch for Python brings along, in POTLUCK_TORCH.
#
# The latter needs no CUDA toolkit, which its own CMake package would ask for:
# none of our code includes CUDA's headers.
#
# Sets TORCH_LIBRARIES and TORCH_INCLUDE_DIRS, and makes
# potluck_includes_torch(<target>).

if(NOT POTLUCK_TORCH)
  find_package(Torch REQUIRED)
else()
  set(TORCH_INCLUDE_DIRS
    ${POTLUCK_TORCH}/include ${POTLUCK_TORCH}/include/torch/csrc/api/include)
  if(NOT EXISTS ${POTLUCK_TORCH}/include/ATen/ATen.h)
    message(FATAL_ERROR "POTLUCK_TORCH: ${POTLUCK_TORCH} holds no LibTorch; "
      "python3 -c 'import torch; print(torch.__path__[0])' says where it is")
  endif()
  add_library(potluck_pytorch INTERFACE IMPORTED GLOBAL)
  # PyTorch's libraries export a part of the C++ library's std::filesystem, with
  # null pointers where it calls the rest: the C++ library comes first.
  set(_torch_libraries "-Wl,--push-state,--no-as-needed,-lstdc++,--pop-state")
  foreach(_name torch torch_cpu c10)
    find_library(POTLUCK_LIB_${_name} ${_name} REQUIRED
                 PATHS ${POTLUCK_TORCH}/lib NO_DEFAULT_PATH)
    mark_as_advanced(POTLUCK_LIB_${_name})
    list(APPEND _torch_libraries ${POTLUCK_LIB_${_name}})
  endforeach()
  # CUDA's half registers itself when it is loaded: no symbol of it is asked for.
  foreach(_name torch_cuda c10_cuda)
    if(EXISTS ${POTLUCK_TORCH}/lib/lib${_name}.so)
      list(APPEND _torch_libraries
        "-Wl,--push-state,--no-as-needed,${POTLUCK_TORCH}/lib/lib${_name}.so,--pop-state")
    endif()
  endforeach()
  set_target_properties(potluck_pytorch PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${TORCH_INCLUDE_DIRS}"
    INTERFACE_LINK_LIBRARIES "${_torch_libraries}")
  set(TORCH_LIBRARIES potluck_pytorch)
  # PyTorch's wheels had the C++ ABI from before 2011 until 2.5.
  file(STRINGS ${POTLUCK_TORCH}/share/cmake/Torch/TorchConfig.cmake _old_abi
       REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(_old_abi)
    add_compile_definitions(_GLIBCXX_USE_CXX11_ABI=0)
    message(WARNING "This PyTorch has the C++ ABI from before 2011, and so must "
      "every other C++ library here; Debian's have not. Install PyTorch 2.6 or "
      "newer, or LibTorch.")
  endif()
endif()

# Its headers say so when they are read in an older C++.
find_file(POTLUCK_ATEN ATen/ATen.h HINTS ${TORCH_INCLUDE_DIRS})
mark_as_advanced(POTLUCK_ATEN)
file(STRINGS ${POTLUCK_ATEN} _asks_for_20 REGEX "__cplusplus < 202002")
if(_asks_for_20)
  set(POTLUCK_TORCH_STANDARD 20)
else()
  set(POTLUCK_TORCH_STANDARD 17)
endif()

# For targets whose sources include LibTorch: in its C++.
function(potluck_includes_torch target)
  target_compile_features(${target} PRIVATE cxx_std_${POTLUCK_TORCH_STANDARD})
endfunction()
