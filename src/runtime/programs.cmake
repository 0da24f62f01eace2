# The helper programs: always static and without sanitizers, from the few sources they need; embedded in the library.
function(coracle_program name)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  add_executable(${name} ${arg_SOURCES} src/coracle/error.cpp src/coracle/units.cpp src/base/channel.cpp
                         src/base/files.cpp src/base/reaping.cpp src/base/syscalls.cpp)
  target_link_libraries(${name} PRIVATE coracle_flags)
  target_compile_options(${name} PRIVATE -Os -ffunction-sections -fdata-sections)
  target_link_options(${name} PRIVATE -static -Wl,--gc-sections -s)
endfunction()
file(GLOB init_sources CONFIGURE_DEPENDS src/init/*.cpp src/init/program/*.cpp)
file(GLOB keeper_sources CONFIGURE_DEPENDS src/runtime/keeper/*.cpp)
coracle_program(coracle-init SOURCES ${init_sources})
coracle_program(coracle-keeper SOURCES ${keeper_sources} src/runtime/keeper_protocol.cpp src/base/single_id_maps.cpp src/base/tree_size.cpp)
set(programs_source ${PROJECT_BINARY_DIR}/programs.S)
add_custom_command(
  OUTPUT ${programs_source}
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/embed-programs ${PROJECT_SOURCE_DIR}/src/runtime/programs.S.in
          $<TARGET_FILE:coracle-init> $<TARGET_FILE:coracle-keeper> ${programs_source}
  DEPENDS coracle-init coracle-keeper src/runtime/programs.S.in scripts/embed-programs)
target_sources(coracle_runtime PRIVATE ${programs_source})
