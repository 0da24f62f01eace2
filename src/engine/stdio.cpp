// Implements the choice, the checks and the reading of a run's streams.
#include "engine/stdio.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/try.hpp"
#include "content/hasher.hpp"

namespace coracle::engine {

namespace {

// A pipe that a program of another uid may reopen as /dev/stdout: it belongs to that uid. Where we may not give it
// away the program can still write to it, only not open it anew.
void give_to(const base::UniqueFd& pipe, const plan::ExecutionPlan& plan) {
    if (plan.id_mapping == plan::IdMapping::none)
        (void)!::fchown(pipe.get(), plan.process.user.uid, plan.process.user.gid);
}

// A directory as a stream would be a way out of the root: "/proc/self/fd/0/.." leads to the host.
Result<> check_stream(const char* name, int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return os_error(std::string("look at ") + name, errno);
    if (!S_ISDIR(status.st_mode) && (::fcntl(fd, F_GETFL) & O_PATH) == 0) return {};
    return make_error(ErrorCode::invalid_request, std::string(name) + " is a directory or no open file",
                      "give the sandbox a file, a pipe or a terminal");
}

}  // namespace

Result<Stdio> make_stdio(const Request& request, const plan::ExecutionPlan& plan) {
    Stdio stdio;
    stdio.in_fd = request.streams.in;
    stdio.out_fd = request.streams.out;
    stdio.err_fd = request.streams.err;
    if (request.stdin_mode == StdinMode::empty) {
        TRY(stdio.null, base::open_file_at(AT_FDCWD, "/dev/null", O_RDONLY));
        stdio.in_fd = stdio.null.get();
    }
    TRY_OK(check_stream("stdin", stdio.in_fd));
    if (request.output_mode == OutputMode::passthrough) {
        TRY_OK(check_stream("stdout", stdio.out_fd));
        TRY_OK(check_stream("stderr", stdio.err_fd));
        return stdio;
    }
    TRY(stdio.out_pipe, supervisor::make_output_pipe());
    TRY(stdio.err_pipe, supervisor::make_output_pipe());
    give_to(stdio.out_pipe.write, plan);
    give_to(stdio.err_pipe.write, plan);
    stdio.out.emplace(std::move(stdio.out_pipe.read), plan.limits.output, request.output_excess);
    stdio.err.emplace(std::move(stdio.err_pipe.read), plan.limits.output, request.output_excess);
    stdio.out_fd = stdio.out_pipe.write.get();
    stdio.err_fd = stdio.err_pipe.write.get();
    return stdio;
}

Result<Stream> take_stream(std::optional<supervisor::Capture> capture) {
    Stream stream;
    if (!capture) return stream;
    stream.bytes_total = capture->total();
    supervisor::Capture::Kept kept = std::move(*capture).take();
    stream.omitted_at = kept.omitted_at;
    stream.data = std::move(kept.data);
    TRY(const oci::Digest digest, content::digest_of(stream.data));
    stream.sha256 = digest.hex();
    return stream;
}

}  // namespace coracle::engine
