// The command line as a function: arguments and descriptors in, exit status out.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "coracle/engine.hpp"

namespace coracle::cli {

// Engine::open in the program; tests give an engine of their own.
using EngineFactory = std::function<Result<std::unique_ptr<Engine>>(EngineOptions)>;

// `args` without the program's name. Returns the status to exit with.
int run_cli(std::span<const std::string> args, const Streams& streams, const EngineFactory& open_engine);

}  // namespace coracle::cli
