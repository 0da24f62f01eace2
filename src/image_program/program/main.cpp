// coracle-image: takes images into the store, in a program of its own that may link shared libraries and make threads.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/files.hpp"
#include "base/try.hpp"
#include "image_program/protocol.hpp"
#include "importer/import.hpp"
#include "pull/pull.hpp"
#include "snapshot/ownership.hpp"

namespace coracle::image_program {

namespace {

constexpr std::size_t longest_request = std::size_t{1} << 20U;

// One line; the rest of standard input is the life of whoever started us.
Result<std::string> read_request() {
    std::string line;
    for (char c = 0; line.size() < longest_request;) {
        const ssize_t got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || c == '\n') return line;
        line += c;
    }
    return make_error(ErrorCode::invalid_request, "coracle-image: the request is too long");
}

// Ends this process with its caller, however that died. The thread is in each process that works.
void die_with_caller() {
    std::thread([] {
        for (;;) {
            pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
            char byte = 0;
            if (::poll(&input, 1, -1) < 0 && errno == EINTR) continue;
            if (::read(STDIN_FILENO, &byte, 1) <= 0) ::_exit(1);
        }
    }).detach();
}

// A layer that waits for those below it holds a descriptor, and there may be 500.
void allow_many_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<Answer> import(const ImportJob& job, const snapshot::IntakeOptions& intake) {
    TRY(const content::Store store, content::Store::open(job.to.store));
    importer::Source source{.path = job.source, .stream = {}};
    if (job.source == "-") source = {.path = {}, .stream = stream_fd};
    TRY(const auto imported, importer::import(store, source, job.tag, intake));
    Answer images;
    for (const auto& each : imported) images.push_back(info_of(each.image, each.warnings));
    return images;
}

void say(const std::string& line) { (void)base::write_all(STDOUT_FILENO, line, "standard output"); }

// Layers' threads tell more than anybody wants to read: ten events a second of each layer are enough.
class EventLimiter {
public:
    bool lets_pass(const PullEvent& event) {
        using Clock = std::chrono::steady_clock;
        const std::lock_guard lock(mutex_);
        const bool change = event.kind != PullEvent::Kind::layer || event.bytes == 0 || event.bytes == event.total;
        Clock::time_point& last = last_[event.digest];
        const Clock::time_point now = Clock::now();
        if (!change && now - last < std::chrono::milliseconds(100)) return false;
        last = now;
        return true;
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::chrono::steady_clock::time_point> last_;
};

snapshot::IntakeOptions options_for(const Destination& to) {
    return {
        .ownership = to.ownership,
        .maps = to.maps,
        .in_userns = true,
        .limits = to.limits,
        .parallel = to.parallel != 0 ? to.parallel : std::max(2U, std::thread::hardware_concurrency()),
        .progress = [](const oci::Descriptor& layer, std::uint64_t bytes) {
            static std::mutex one_at_a_time;
            const std::lock_guard guard(one_at_a_time);
            say(to_line(PullEvent{
                .kind = PullEvent::Kind::layer, .digest = layer.digest.str(), .bytes = bytes, .total = layer.size}));
        }};
}

// Does `work` where the owners of files can be given; the answer is said there, too.
Result<> work_in(const Destination& to, const std::function<Result<Answer>()>& work) {
    const auto act = [&]() -> Result<std::string> {
        die_with_caller();
        TRY(const Answer images, work());
        say(to_line(images));
        return std::string();
    };
    TRY_OK(snapshot::run_as(to.ownership, to.maps, act));
    return {};
}

Result<> serve_import(const ImportJob& job) {
    return work_in(job.to, [&job] { return import(job, options_for(job.to)); });
}

// Credentials are looked up outside the user namespace: helper programs must be who the caller is.
Result<> serve_pull(const PullJob& job) {
    std::vector<std::string> warnings;
    TRY(pull::Order order,
        pull::make_order(job.request, job.registries, {.files = job.auth_files}, warnings).at(Stage::resolve));
    return work_in(job.to, [&]() -> Result<Answer> {
        TRY(const content::Store store, content::Store::open(job.to.store));
        const unsigned parallel = order.intake.parallel;
        order.intake = options_for(job.to);
        order.intake.parallel = parallel;
        const auto stall = std::chrono::duration_cast<registry::Milliseconds>(job.request.stall_timeout);
        const registry::Http http(job.registries, {.stall = stall});
        EventLimiter events;
        TRY(auto pulled, pull::pull(store, http, order, [&](const PullEvent& event) {
                if (events.lets_pass(event)) say(to_line(event));
            }));
        warnings.insert(warnings.end(), pulled.warnings.begin(), pulled.warnings.end());
        return Answer{info_of(pulled.image, std::move(warnings))};
    });
}

Result<> serve_login(const LoginJob& job) {
    const registry::Location location{job.host, {}};
    TRY_OK(registry::check_allowed(location, job.registries));
    const registry::Http http(job.registries, {});
    TRY(const auto repository, registry::Repository::create(http, location, job.credentials));
    TRY_OK(repository->log_in());
    say(to_line(Answer{}));
    return {};
}

Result<> serve() {
    TRY(const std::string request, read_request());
    TRY(const Job job, parse_job(request));
    if (const auto* const pull_job = std::get_if<PullJob>(&job)) return serve_pull(*pull_job);
    if (const auto* const login_job = std::get_if<LoginJob>(&job)) return serve_login(*login_job);
    return serve_import(std::get<ImportJob>(job));
}

}  // namespace

}  // namespace coracle::image_program

int main() {
    ::signal(SIGPIPE, SIG_IGN);
    coracle::image_program::allow_many_files();
    const auto served = coracle::image_program::serve();
    if (served) return 0;
    coracle::image_program::say(coracle::image_program::to_line(served.error()));
    return 1;
}
