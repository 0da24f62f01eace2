// Starts coracle-image and listens to it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "coracle/error.hpp"
#include "image_program/protocol.hpp"

namespace coracle::image_program {

// Beside this program, else in ../libexec/coracle. No value: it is not installed.
std::optional<std::filesystem::path> find_program();

using OnEvent = std::function<void(const PullEvent&)>;

// Runs the program with one request to its end; it dies with us. `stream`, where given, is what it gets as stream_fd.
// `cancel_fd`, where not negative, gives signal numbers as Engine::run() takes them: one that asks for the end kills
// the program. Error: unavailable with ECANCELED then.
Result<Answer> run_program(const std::filesystem::path& program, const std::string& request, std::optional<int> stream,
                           const OnEvent& on_event, int cancel_fd = -1);

}  // namespace coracle::image_program
