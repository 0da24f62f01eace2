// Implements the scope: one call to org.freedesktop.systemd1 (its D-Bus API is in org.freedesktop.systemd1(5)), the end
// of the job that it begins, and the move into a leaf.
#include "cgroup/user_scope.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/files.hpp"
#include "base/try.hpp"
#include "cgroup/dbus.hpp"

namespace coracle::cgroup {

namespace {

using Clock = std::chrono::steady_clock;

// Its signals go to those on the bus who ask the bus for them.
constexpr const char* job_signals =
    "type='signal',sender='org.freedesktop.systemd1',interface='org.freedesktop.systemd1.Manager',member='JobRemoved'";

// What a stop of the scope leaves its processes between SIGTERM and SIGKILL: the keeper, as PID 1, never ends by the
// first, and a logout must not wait for it.
constexpr std::uint64_t stop_us = 5'000'000;

// A connection to a message bus.
class Bus {
public:
    static Result<Bus> connect(const ScopeRequest& request) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string path = request.bus.string();
        if (path.size() >= sizeof address.sun_path) return make_error(ErrorCode::internal, "the path is too long");
        path.copy(address.sun_path, path.size());
        Bus bus(base::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)));
        bus.be_patient(request.patience, request.cancel_fd);
        // For connect, too, which waits where nobody accepts (unix(7)).
        const timeval longest{.tv_sec = request.patience.count() / 1000, .tv_usec = 1};
        ::setsockopt(bus.socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
        if (::connect(bus.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            return os_error("connect", errno);
        }
        TRY_OK(bus.check_peer());
        TRY_OK(bus.authenticate());
        return bus;
    }

    // From now on: how long next() waits in all, and what ends its waiting.
    void be_patient(std::chrono::milliseconds patience, int cancel_fd) {
        deadline_ = Clock::now() + patience;
        cancel_fd_ = cancel_fd;
    }

    Result<> send(const std::string& bytes) const {
        for (std::size_t sent = 0; sent < bytes.size();) {
            const ssize_t put = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return os_error("send", errno);
            sent += static_cast<std::size_t>(put);
        }
        return {};
    }

    Result<dbus::Message> next() {
        while (buffer_.size() < dbus::head_size) TRY_OK(receive());
        const auto size = dbus::size_of(std::string_view(buffer_).substr(0, dbus::head_size));
        if (!size) return make_error(ErrorCode::corrupt, "what came is no D-Bus message");
        while (buffer_.size() < *size) TRY_OK(receive());
        auto message = dbus::unpack(std::string_view(buffer_).substr(0, *size));
        buffer_.erase(0, *size);
        if (!message) return make_error(ErrorCode::corrupt, "a D-Bus message is not well-formed");
        return std::move(*message);
    }

private:
    explicit Bus(base::UniqueFd socket) : socket_(std::move(socket)) {}

    // A manager of another pid namespace would take our number for one of its own processes; its pid shows as 0 here.
    Result<> check_peer() const {
        ucred peer{};
        socklen_t size = sizeof peer;
        const bool known = ::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
        if (known && peer.pid > 0) return {};
        return make_error(ErrorCode::unavailable, "it is in another pid namespace");
    }

    // EXTERNAL: the kernel tells the bus who we are; the text is the uid in hexadecimal ASCII.
    Result<> authenticate() {
        std::string uid;
        for (const char digit : std::to_string(::geteuid())) uid += {'3', digit};
        TRY_OK(send(std::string("\0AUTH EXTERNAL ", 15) + uid + "\r\n"));
        while (buffer_.find("\r\n") == std::string::npos) {
            if (buffer_.size() > 4096) return make_error(ErrorCode::corrupt, "what came is no answer to AUTH");
            TRY_OK(receive());
        }
        const std::size_t end = buffer_.find("\r\n");
        const std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 2);
        if (!line.starts_with("OK ")) return make_error(ErrorCode::denied, "the bus answers '" + line + "'");
        return send("BEGIN\r\n");
    }

    // What has come is put into the buffer; waits for something.
    Result<> receive() {
        std::array<pollfd, 2> waits{{{socket_.get(), POLLIN, 0}, {cancel_fd_, POLLIN, 0}}};
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
        const int ready = ::poll(waits.data(), waits.size(), left > 0 ? static_cast<int>(left) : 0);
        if (ready < 0 && errno == EINTR) return {};
        if (ready < 0) return os_error("poll", errno);
        if (waits[1].revents != 0) {
            Error cancelled = make_error(ErrorCode::unavailable, "cancelled before the program started");
            cancelled.os_errno = ECANCELED;
            return cancelled;
        }
        if (ready == 0) return make_error(ErrorCode::unavailable, "no answer in time");
        std::array<char, 4096> bytes{};
        const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
        if (got < 0 && errno != EINTR) return os_error("receive", errno);
        if (got == 0) return make_error(ErrorCode::unavailable, "the bus closed the connection");
        if (got > 0) buffer_.append(bytes.data(), static_cast<std::size_t>(got));
        return {};
    }

    base::UniqueFd socket_;
    int cancel_fd_ = -1;
    Clock::time_point deadline_;
    std::string buffer_;
};

template <class Write>
void property(dbus::Writer& properties, const char* name, const char* type, Write write) {
    properties.align(8).text(name).signature(type);
    write(properties);
}

// A service of the bus, the object that it answers for, and the interface of the call.
struct Callee {
    const char* destination;
    const char* path;
    const char* interface;
};
constexpr Callee manager{"org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"};
constexpr Callee the_bus{"org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"};

dbus::Message call(const Callee& callee, const char* member, const char* signature, dbus::Writer body) {
    return {.kind = dbus::Kind::call,
            .answers = 0,
            .destination = callee.destination,
            .path = callee.path,
            .interface = callee.interface,
            .member = member,
            .error_name = {},
            .signature = signature,
            .body = std::move(body).take()};
}

// StartTransientUnit(name, mode, properties, auxiliary units).
dbus::Message start_call(const ScopeRequest& request) {
    using dbus::Writer;
    Writer body;
    body.text(scope_name(request.run_id)).text("fail");
    body.array(8, [&request](Writer& all) {
        property(all, "Description", "s", [&](Writer& value) { value.text("coracle run " + request.run_id); });
        property(all, "Slice", "s", [&](Writer& value) { value.text(request.parent.filename().string()); });
        property(all, "Delegate", "b", [](Writer& value) { value.number(1); });
        property(all, "CollectMode", "s", [](Writer& value) { value.text("inactive-or-failed"); });
        property(all, "TimeoutStopUSec", "t", [](Writer& value) { value.number64(stop_us); });
        property(all, "RuntimeMaxUSec", "t",
                 [&](Writer& value) { value.number64(static_cast<std::uint64_t>(request.longest.count())); });
        property(all, "PIDs", "au", [&](Writer& value) {
            value.array(4, [&](Writer& pids) { pids.number(static_cast<std::uint32_t>(request.pid)); });
        });
    });
    body.array(8, [](Writer&) {});
    return call(manager, "StartTransientUnit", "ssa(sv)a(sa(sv))", std::move(body));
}

dbus::Message stop_call(const std::string& unit) {
    dbus::Writer body;
    body.text(unit).text("replace");
    return call(manager, "StopUnit", "ss", std::move(body));
}

dbus::Message match_call() {
    dbus::Writer body;
    body.text(job_signals);
    return call(the_bus, "AddMatch", "s", std::move(body));
}

Error refusal(const dbus::Message& error) {
    dbus::Reader body(error.body);
    const std::string words = error.signature.starts_with('s') ? body.text() : std::string();
    return make_error(ErrorCode::denied, words.empty() ? error.error_name : words);
}

// How the job of this unit ended ("done"), where the message says it: JobRemoved(id, job, unit, result).
std::optional<std::string> job_result(const dbus::Message& message, const std::string& unit) {
    if (message.kind != dbus::Kind::signal || message.member != "JobRemoved" || message.signature != "uoss") return {};
    dbus::Reader body(message.body);
    (void)body.number();
    (void)body.text();
    const bool ours = body.text() == unit;
    std::string result = body.text();
    return ours && body.good() ? std::optional(std::move(result)) : std::nullopt;
}

// Until the manager has moved the process. All three calls are sent at once; the bus keeps their order.
Result<> start_scope(Bus& bus, const ScopeRequest& request) {
    TRY_OK(bus.send(dbus::pack(call(the_bus, "Hello", "", {}), 1) + dbus::pack(match_call(), 2) +
                    dbus::pack(start_call(request), 3)));
    const std::string unit = scope_name(request.run_id);
    for (;;) {
        TRY(const dbus::Message message, bus.next());
        if (message.kind == dbus::Kind::error) return refusal(message);
        const auto result = job_result(message, unit);
        if (!result) continue;
        if (*result == "done") return {};
        return make_error(ErrorCode::denied, "the job of '" + unit + "' ended as '" + *result + "'");
    }
}

// The manager says that it is done; whether the process is where it was to be, the kernel knows.
Result<> enter_leaf(const ScopeRequest& request) {
    const std::filesystem::path path = request.parent / scope_name(request.run_id);
    const std::string process = std::to_string(request.pid) + "\n";
    TRY(const base::UniqueFd scope, base::open_dir(path));
    TRY(const std::string processes, base::read_file_at(scope.get(), "cgroup.procs", 64_KiB));
    if (processes != process) {
        return make_error(ErrorCode::unavailable, "the cgroup '" + path.string() + "' does not hold the keeper alone");
    }
    TRY_OK(base::make_dir_at(scope.get(), "keeper"));
    return base::write_value_at(scope.get(), "keeper/cgroup.procs", process).within("cgroup '" + path.string() + "'");
}

// A scope whose process died before it was moved stays: nothing ever leaves it. The answer is waited for, since the bus
// does not know a sender that has gone, and the manager asks it who that was.
void give_up(Bus& bus, const ScopeRequest& request) {
    bus.be_patient(std::chrono::seconds(1), -1);
    if (!bus.send(dbus::pack(stop_call(scope_name(request.run_id)), 4))) return;
    for (;;) {
        const auto message = bus.next();
        if (!message || message.value().answers == 4) return;
    }
}

}  // namespace

std::string scope_name(const std::string& run_id) { return "coracle-" + run_id + ".scope"; }

Result<> enter_scope(const ScopeRequest& request) {
    const std::string where = "'" + request.bus.string() + "'";
    TRY(Bus bus, Bus::connect(request).within(where));
    Result<> entered = start_scope(bus, request).within(where);
    if (entered) entered = enter_leaf(request);
    if (!entered) give_up(bus, request);
    return entered;
}

}  // namespace coracle::cgroup
