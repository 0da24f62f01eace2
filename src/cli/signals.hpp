// Turns the signals that coracle gets during a run into bytes in a pipe, which the engine's poll loop reads.
#pragma once

#include <signal.h>

#include <array>
#include <vector>

#include "base/unique_fd.hpp"
#include "coracle/error.hpp"

namespace coracle::cli {

// While it lives, WINCH and the signals that others send to end or to tell something are bytes in fd() instead of this
// process's end; those of faults stay as they are. One at a time: signal handlers are the process's, which is why this
// lives in the program and not in the library.
class SignalPipe {
public:
    static Result<SignalPipe> install();
    SignalPipe(SignalPipe&&) noexcept = default;
    SignalPipe& operator=(SignalPipe&&) = delete;
    ~SignalPipe();

    int fd() const { return read_end_.get(); }

    // Without the real-time signals, whose numbers are known at run time only: SIGRTMIN to SIGRTMAX.
    static constexpr std::array<int, 11> signals{SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGWINCH, SIGUSR1,
                                                 SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO};

private:
    SignalPipe(base::UniqueFd read_end, base::UniqueFd write_end)
        : read_end_(std::move(read_end)), write_end_(std::move(write_end)) {}
    struct Taken {
        int number = 0;
        struct sigaction before {};
    };
    void take_signals();
    void take(int number);

    base::UniqueFd read_end_;
    base::UniqueFd write_end_;
    std::vector<Taken> taken_;
};

}  // namespace coracle::cli
