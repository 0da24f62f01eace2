// Implements the creation of a container: the job out, created and ready back, or the runtime's reason why not.
#include "runtime/container.hpp"

#include <poll.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/syscalls.hpp"
#include "base/try.hpp"
#include "runtime/runtime_log.hpp"

namespace coracle::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Bytes most_message = 1_MiB;

// Until `fd` is readable (a closed end counts).
Result<> wait_readable(int fd, int cancel_fd, Clock::time_point deadline) {
    for (;;) {
        std::array<pollfd, 2> waits{{{fd, POLLIN, 0}, {cancel_fd, POLLIN, 0}}};
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        const int ready = ::poll(waits.data(), waits.size(), left > 0 ? static_cast<int>(left) : 0);
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) return os_error("poll", errno);
        if (waits[0].revents != 0) return {};
        if (waits[1].revents != 0) {
            Error cancelled = make_error(ErrorCode::unavailable, "cancelled before the program started");
            cancelled.os_errno = ECANCELED;
            return cancelled;
        }
        if (ready == 0) {
            return make_error(ErrorCode::unavailable, "the runtime did not create the container in time",
                              "see whether the machine is overloaded, or try again");
        }
    }
}

Error explain(KeeperFailed failed) {
    Error error = std::move(failed.error);
    const std::string words = runtime_words(failed.runtime_log, failed.runtime_stderr);
    if (!words.empty()) error.message += ": " + words;
    return error;
}

Result<base::Message> next_message(const base::Channel& channel, const char* who, int cancel_fd,
                                   Clock::time_point deadline) {
    TRY_OK(wait_readable(channel.fd(), cancel_fd, deadline));
    TRY(auto message, channel.receive(most_message));
    if (!message) return make_error(ErrorCode::internal, std::string(who) + " ended before the program started");
    return std::move(*message);
}

}  // namespace

Result<Container> Container::create(KeeperProcess keeper, const KeeperJob& job, base::Channel init, int cancel_fd,
                                    Clock::time_point deadline, const std::function<void()>& meanwhile) {
    Container container(std::move(keeper), std::move(init));
    TRY_OK(container.keeper().send(pack(job)));
    if (meanwhile) meanwhile();
    TRY(base::Message answer, next_message(container.keeper(), "the keeper", cancel_fd, deadline));
    if (auto failed = unpack_keeper_failed(answer.bytes)) return explain(std::move(*failed));
    const auto created = unpack_keeper_created(answer.bytes);
    if (!created || answer.fds.size() != 1) return make_error(ErrorCode::internal, "the keeper said something unknown");
    container.times_ = *created;
    container.init_pidfd_ = std::move(answer.fds.front());
    TRY(const base::Message ready, next_message(container.init(), "init", cancel_fd, deadline));
    if (init::kind_of(ready.bytes) != init::Kind::ready) {
        return make_error(ErrorCode::internal, "init said something unknown");
    }
    return container;
}

Result<> Container::start(const init::Job& job, int in, int out, int err) const {
    return init_.send(init::pack(job), {in, out, err}).at(Stage::start);
}

void Container::signal(int number) const { (void)init_.send(init::pack(init::Signal{number})); }

void Container::kill() const { (void)base::send_signal(init_pidfd_, SIGKILL); }

}  // namespace coracle::runtime
