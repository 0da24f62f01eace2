// Implements the question at a terminal.
#include "cli/prompt.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/files.hpp"
#include "base/try.hpp"
#include "base/unique_fd.hpp"

namespace coracle::cli {

namespace {

// While it lives, the terminal shows nothing of what is typed, and signals that would end the program wait in fd().
class Silence {
public:
    explicit Silence(int terminal) : terminal_(terminal) {
        ::sigemptyset(&ending_);
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) ::sigaddset(&ending_, number);
        ::sigprocmask(SIG_BLOCK, &ending_, &mask_before_);
        signals_.reset(::signalfd(-1, &ending_, SFD_CLOEXEC));
        ::tcgetattr(terminal_, &before_);
        termios silent = before_;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        silent.c_lflag |= ECHONL;
        ::tcsetattr(terminal_, TCSAFLUSH, &silent);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
    // What arrived meanwhile arrives now.
    ~Silence() {
        ::tcsetattr(terminal_, TCSAFLUSH, &before_);
        ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    }

    int fd() const { return signals_.get(); }

private:
    int terminal_;
    base::UniqueFd signals_;
    sigset_t ending_{};
    sigset_t mask_before_{};
    termios before_{};
};

Error no_answer() { return make_error(ErrorCode::invalid_request, "no answer was given"); }

// A terminal gives a whole line at once. `signals` may be -1.
Result<std::string> read_line(int in, int signals) {
    std::array<pollfd, 2> waits{pollfd{in, POLLIN, 0}, pollfd{signals, POLLIN, 0}};
    while (::poll(waits.data(), waits.size(), -1) < 0) {
        if (errno != EINTR) return os_error("wait for an answer", errno);
    }
    if (waits[1].revents != 0) return no_answer();
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(in, buffer.data(), buffer.size());
    if (got < 0) return os_error("read the answer", errno);
    std::string line(buffer.data(), static_cast<std::size_t>(got));
    if (line.ends_with('\n')) line.pop_back();
    if (line.empty()) return no_answer();
    return line;
}

}  // namespace

Result<std::string> ask(int in, int out, std::string_view question, Echo echo) {
    if (::isatty(in) != 1) return make_error(ErrorCode::invalid_request, "nobody can be asked: stdin is no terminal");
    TRY_OK(base::write_all(out, question, "the terminal"));
    if (echo == Echo::on) return read_line(in, -1);
    const Silence silence(in);
    return read_line(in, silence.fd());
}

}  // namespace coracle::cli
