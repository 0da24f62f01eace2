// coracle-image: takes images into the store, in a program of its own that may link shared libraries and make threads.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <thread>

#include "base/files.hpp"
#include "base/try.hpp"
#include "image_program/protocol.hpp"
#include "importer/import.hpp"
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

snapshot::IntakeOptions options_for(const Destination& to) {
    return {.ownership = to.ownership,
            .maps = to.maps,
            .in_userns = true,
            .limits = to.limits,
            .parallel = std::max(2U, std::thread::hardware_concurrency()),
            .progress = [](const oci::Descriptor& layer, std::uint64_t bytes) {
                static std::mutex one_at_a_time;
                const std::lock_guard guard(one_at_a_time);
                say(to_line(LayerEvent{layer.digest.str(), bytes, layer.size}));
            }};
}

Result<> serve() {
    TRY(const std::string request, read_request());
    TRY(const ImportJob job, parse_import_job(request));
    // All of the work is done where the owners of files can be given; the answer is said there, too.
    const auto work = [&]() -> Result<std::string> {
        die_with_caller();
        TRY(const Answer images, import(job, options_for(job.to)));
        say(to_line(images));
        return std::string();
    };
    TRY_OK(snapshot::run_as(job.to.ownership, job.to.maps, work));
    return {};
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
