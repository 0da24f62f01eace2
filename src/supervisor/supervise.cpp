// Implements the poll loop over init, keeper, output streams and the caller's signals.
#include "supervisor/supervise.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/ending_signal.hpp"

namespace coracle::supervisor {

namespace {

using Clock = std::chrono::steady_clock;

// After KILL the kernel needs no time worth speaking of, unless a process is in uninterruptible sleep.
// With the drain below it makes the 2 s after the grace that a caller waits at most.
constexpr auto kill_patience = std::chrono::milliseconds(1500);
// With every process of the container dead, an open write end can only be in somebody else's hands.
constexpr auto drain_patience = std::chrono::milliseconds(500);

// Between two sums of memory: what can be written in this time is what the limit may be exceeded by.
constexpr auto sampling_interval = std::chrono::milliseconds(50);
constexpr Bytes most_message = 1_MiB;

class Supervision {
public:
    Supervision(runtime::Container& container, const Watch& watch)
        : container_(container), watch_(watch), deadline_(Clock::now() + watch.wall_time) {}

    Ending run() {
        while (!is_over()) step();
        ending_.over = Clock::now();
        if (counter_ && !ending_.cpu_counted) ending_.cpu_counted = cpu_used();
        if (phase_ != Phase::killed) ending_.promised = ending_.over + kill_patience + drain_patience;
        drain();
        ending_.drained = Clock::now();
        return std::move(ending_);
    }

private:
    // Each phase has one deadline; what passing it means is in on_deadline().
    enum class Phase { running, grace, killed };

    enum Slot : std::size_t { keeper, init, out, err, signals, control, slots };

    bool is_over() const { return container_gone_ || ending_.stuck; }

    void step() {
        std::array<pollfd, slots> waits{};
        waits[keeper] = {keeper_open_ ? container_.keeper().fd() : -1, POLLIN, 0};
        waits[init] = {init_open_ ? container_.init().fd() : -1, POLLIN, 0};
        waits[out] = {watch_.out != nullptr ? watch_.out->fd() : -1, POLLIN, 0};
        waits[err] = {watch_.err != nullptr ? watch_.err->fd() : -1, POLLIN, 0};
        waits[signals] = {signals_open_ ? watch_.signal_fd : -1, POLLIN, 0};
        waits[control] = {watch_.control_fd, POLLIN, 0};
        const int ready = ::poll(waits.data(), waits.size(), milliseconds_left());
        if (ready > 0) on_output(waits[out].revents != 0, waits[err].revents != 0);
        if (Clock::now() >= deadline_) on_deadline();
        if (phase_ == Phase::running) check_budgets();
        if (ready <= 0) return;
        if (waits[init].revents != 0) on_init();
        if (waits[keeper].revents != 0) on_keeper();
        if (waits[signals].revents != 0) signals_open_ = take_signal(watch_.signal_fd);
        if (waits[control].revents != 0) (void)take_signal(watch_.control_fd);
    }

    // Rounded up: a poll that returns a moment too early would spin until the deadline.
    int milliseconds_left() const {
        const auto wake =
            phase_ == Phase::running ? std::min({deadline_, idle_at_, look_at_cpu_, look_at_memory_}) : deadline_;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now()).count();
        constexpr std::int64_t most = 3'600'000;
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, most));
    }

    void on_output(bool out_ready, bool err_ready) {
        for (Capture* const stream : {out_ready ? watch_.out : nullptr, err_ready ? watch_.err : nullptr}) {
            if (stream == nullptr) continue;
            stream->read_some();
            if (watch_.idle_time) idle_at_ = Clock::now() + *watch_.idle_time;
            if (!stream->must_end() || phase_ == Phase::killed) continue;
            ending_.conclude(Reason::output_limit, "it wrote more than --output-limit allows");
            kill();
        }
    }

    // The times that are up while the program runs, besides the wall time.
    void check_budgets() {
        if (Clock::now() >= idle_at_) {
            ending_.conclude(Reason::idle_timeout,
                             "it wrote nothing for " + to_string(*watch_.idle_time) + " (--idle-timeout)");
            terminate();
        } else if (Clock::now() >= look_at_cpu_) {
            look_at_cpu();
        } else if (Clock::now() >= look_at_memory_) {
            look_at_memory();
        }
    }

    void look_at_memory() {
        look_at_memory_ = Clock::now() + sampling_interval;
        if (!watch_.memory->look()) return;
        ending_.conclude(Reason::oom, "its processes held " + std::to_string(watch_.memory->peak().count >> 20U) +
                                          " MiB, more than the memory limit of " + to_string(watch_.memory->limit()) +
                                          " (sampled; no cgroup holds it here)");
        kill();
    }

    std::optional<Duration> cpu_used() const {
        if (watch_.cpu && watch_.cpu->used) return watch_.cpu->used();
        std::uint64_t nanoseconds = 0;
        if (!counter_ || ::read(counter_.get(), &nanoseconds, sizeof nanoseconds) != sizeof nanoseconds) {
            return std::nullopt;
        }
        return Duration(static_cast<std::int64_t>(nanoseconds));
    }

    // The budget cannot be used up before all processors that the run may use have worked off what is left of it.
    void look_at_cpu() {
        const auto used = cpu_used();
        const Duration left = watch_.cpu->time - used.value_or(Duration::zero());
        if (used && left <= Duration::zero()) {
            ending_.conclude(Reason::cpu_timeout,
                             "it used " + to_string(watch_.cpu->time) + " of processor time (--cpu-time)");
            terminate();
            return;
        }
        constexpr Duration shortest = std::chrono::milliseconds(5);
        const Duration earliest = left * 1000 / std::max<std::int64_t>(1, watch_.cpu->rate.milli);
        look_at_cpu_ = Clock::now() + std::max(shortest, earliest);
    }

    void on_deadline() {
        switch (phase_) {
            case Phase::running:
                ending_.conclude(Reason::wall_timeout, "ended after " + to_string(watch_.wall_time) + " (--timeout)");
                terminate();
                break;
            case Phase::grace: kill(); break;
            case Phase::killed: ending_.stuck = true; break;
        }
    }

    void terminate() {
        container_.signal(SIGTERM);
        phase_ = Phase::grace;
        deadline_ = Clock::now() + watch_.grace;
    }

    void kill() {
        if (watch_.kill_cgroup) watch_.kill_cgroup();
        container_.kill();
        if (phase_ == Phase::killed) return;
        phase_ = Phase::killed;
        deadline_ = Clock::now() + kill_patience;
        ending_.promised = deadline_ + drain_patience;
    }

    void on_init() {
        auto message = container_.init().receive(most_message);
        if (!message || !message.value()) {
            init_open_ = false;  // how it ended is the keeper's to say
            return;
        }
        const std::string& bytes = message.value()->bytes;
        auto& fds = message.value()->fds;
        if (init::kind_of(bytes) == init::Kind::counter && !fds.empty()) counter_ = std::move(fds.front());
        if (auto started = init::unpack_started(bytes)) on_started(*started);
        if ((ending_.failed = init::unpack_failed(bytes))) {
            ending_.conclude(Reason::exec_failed);
            kill();
        }
        if (const auto exited = init::unpack_exited(bytes)) on_exited(*exited);
    }

    // The clock of the limit is the clock of the record: both begin with the program.
    void on_started(const init::Started& started) {
        ending_.started = started;
        if (phase_ != Phase::running) return;
        deadline_ = Clock::time_point(std::chrono::nanoseconds(started.at_ns)) + watch_.wall_time;
        if (watch_.idle_time) idle_at_ = Clock::now() + *watch_.idle_time;
        if (watch_.cpu && !watch_.cpu->used && !counter_) {
            ending_.conclude(Reason::internal, "the kernel refused a counter for --cpu-time (perf_event_open(2))");
            kill();
        } else if (watch_.cpu) {
            look_at_cpu();
        }
        if (watch_.memory != nullptr) look_at_memory();
    }

    void on_exited(const init::Exited& exited) {
        ending_.exited = exited;
        if (counter_) ending_.cpu_counted = cpu_used();
        if (WIFEXITED(exited.wait_status)) {
            ending_.conclude(Reason::exited);
        } else if (interrupted_ != 0 && WTERMSIG(exited.wait_status) == interrupted_) {
            ending_.conclude(Reason::cancelled, "ended by the caller's signal");
        } else {
            ending_.conclude(Reason::signaled);
        }
        kill();  // what it left behind
    }

    void on_keeper() {
        const auto message = container_.keeper().receive(most_message);
        if (!message || !message.value()) {
            ending_.conclude(Reason::internal, "the sandbox's keeper was killed from outside");
            container_gone_ = true;
            keeper_open_ = false;
            return;
        }
        if (const auto overflow = runtime::unpack_keeper_overflow(message.value()->bytes)) {
            ending_.conclude(Reason::storage_limit, "it wrote " + std::to_string(overflow->bytes) + " bytes in " +
                                                        std::to_string(overflow->entries) +
                                                        " files to the disk, more than --storage allows");
            kill();
            return;
        }
        ending_.container_exit = runtime::unpack_keeper_exited(message.value()->bytes);
        if (!ending_.container_exit) return;
        container_gone_ = true;
        // init writes its last message before it ends.
        while (init_open_ && readable(container_.init().fd())) on_init();
        // The OOM killer may have taken it, which its counter tells; else somebody outside did.
        ending_.conclude(Reason::internal, "the sandbox's init was killed from outside");
    }

    static bool readable(int fd) {
        pollfd wait{fd, POLLIN, 0};
        return ::poll(&wait, 1, 0) > 0;
    }

    // False: no signal can come from there any more.
    bool take_signal(int fd) {
        unsigned char number = 0;
        if (::read(fd, &number, 1) != 1) return errno == EAGAIN || errno == EINTR;
        on_signal(number);
        return true;
    }

    // Interrupts are the program's to answer; a second one, or TERM, ends it in any case, and KILL at once.
    void on_signal(int number) {
        if (!base::asks_for_the_end(number)) {
            container_.signal(number);
            return;
        }
        if (interrupted_ != 0 || number == SIGKILL) {
            ending_.conclude(Reason::cancelled, number == SIGKILL ? "killed by the caller's signal"
                                                                  : "killed at the caller's second signal");
            kill();
            return;
        }
        interrupted_ = number;
        if (number == SIGTERM) {
            ending_.conclude(Reason::cancelled, "ended by the caller's signal");
            terminate();
        } else {
            container_.signal(number);
        }
    }

    void drain() {
        const auto until = Clock::now() + drain_patience;
        for (Capture* stream : {watch_.out, watch_.err}) {
            while (stream != nullptr && stream->fd() >= 0 && Clock::now() < until) {
                pollfd wait{stream->fd(), POLLIN, 0};
                const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
                if (::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left))) > 0) stream->read_some();
            }
            if (stream != nullptr) stream->close();
        }
    }

    runtime::Container& container_;
    const Watch& watch_;
    Clock::time_point deadline_;
    Clock::time_point idle_at_ = Clock::time_point::max();
    Clock::time_point look_at_cpu_ = Clock::time_point::max();
    Clock::time_point look_at_memory_ = Clock::time_point::max();
    base::UniqueFd counter_;  // of processor time, where init made one
    Phase phase_ = Phase::running;
    Ending ending_;
    bool container_gone_ = false;
    bool keeper_open_ = true;
    bool init_open_ = true;
    bool signals_open_ = true;
    int interrupted_ = 0;
};

}  // namespace

Ending supervise(runtime::Container& container, const Watch& watch) { return Supervision(container, watch).run(); }

}  // namespace coracle::supervisor
