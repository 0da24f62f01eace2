// Turns the signals that coracle gets during a run into bytes in a pipe, which the engine's poll loop reads.
#pragma once

#include <signal.h>

#include <array>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"

namespace coracle::cli {

// While it lives, INT, TERM, HUP, QUIT and WINCH are bytes in fd() instead of this process's end. One at a time: signal
// handlers are the process's, which is why this lives in the program and not in the library.
class SignalPipe {
public:
    static Result<SignalPipe> install();
    SignalPipe(SignalPipe&&) noexcept = default;
    SignalPipe& operator=(SignalPipe&&) = delete;
    ~SignalPipe();

    int fd() const { return read_end_.get(); }

    static constexpr std::array<int, 5> signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};

private:
    SignalPipe(base::UniqueFd read_end, base::UniqueFd write_end)
        : read_end_(std::move(read_end)), write_end_(std::move(write_end)) {}
    void take_signals();

    base::UniqueFd read_end_;
    base::UniqueFd write_end_;
    std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace coracle::cli
