// Implements the engine in memory.
#include "support/fake_engine.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "base/files.hpp"

namespace coracle::testing {

namespace {

class FakeEngine : public Engine {
public:
    explicit FakeEngine(FakeHost& host) : host_(host) {}

    RunResult run(const Request& request, int signal_fd, const PullProgress& progress) const override {
        host_.runs += 1;
        for (const PullEvent& event : host_.pull_events) {
            if (progress) progress(event);
        }
        host_.requests.push_back(request);
        return host_.on_run ? host_.on_run(request, signal_fd) : exited(0);
    }
    Result<std::string> explain(const Request& request) const override {
        host_.requests.push_back(request);
        if (host_.error) return *host_.error;
        return std::string("{\"plan\":\"" + request.image + "\"}");
    }
    Result<> write_bundle(const Request& request, const std::filesystem::path& target) const override {
        host_.requests.push_back(request);
        host_.bundle_target = target.string();
        if (host_.error) return *host_.error;
        return {};
    }
    Result<std::vector<ImageInfo>> import_image(const ImportRequest& request) const override {
        host_.imports.push_back(request);
        return images();
    }
    Result<std::vector<ImageInfo>> pull_image(const PullRequest& request, const PullProgress& progress) const override {
        host_.pulls.push_back(request);
        for (const PullEvent& event : host_.pull_events) progress(event);
        return images();
    }
    Result<std::vector<ImageInfo>> images() const override {
        if (host_.error) return *host_.error;
        return host_.images;
    }
    Result<ImageDetails> inspect_image(const std::string& ref) const override {
        host_.refs = {ref};
        if (host_.error) return *host_.error;
        return host_.details;
    }
    Result<> tag_image(const std::string& ref, const std::string& name) const override {
        host_.refs = {ref, name};
        if (host_.error) return *host_.error;
        return {};
    }
    Result<RemovalReport> remove_images(const std::vector<std::string>& refs) const override {
        host_.refs = refs;
        if (host_.error) return *host_.error;
        return host_.removal;
    }
    Result<RemovalReport> collect_garbage(const GcRequest& request) const override {
        host_.gc = request;
        if (host_.error) return *host_.error;
        return host_.removal;
    }
    Result<> save_images(const SaveRequest& request) const override {
        host_.save = request;
        if (host_.error) return *host_.error;
        return {};
    }
    Result<DiskUsage> disk_usage() const override {
        if (host_.error) return *host_.error;
        return host_.usage;
    }

    DoctorReport doctor() const override { return host_.report; }
    Result<std::vector<RunInfo>> runs() const override {
        if (host_.error) return *host_.error;
        return host_.live;
    }
    Result<RunInfo> signal_run(const std::string& id, int signal_number) const override {
        host_.signals.emplace_back(id, signal_number);
        if (host_.error) return *host_.error;
        return RunInfo{.id = id + "0123", .image = {}, .command = {}};
    }
    Result<LoginDone> login(const LoginRequest& request) const override {
        host_.logins.push_back(request);
        if (host_.error) return *host_.error;
        return LoginDone{.file = "/home/a/auth.json", .warnings = host_.login_warnings};
    }
    Result<LoginDone> logout(const LogoutRequest& request) const override {
        host_.logouts.push_back(request);
        if (host_.error) return *host_.error;
        return LoginDone{.file = "/home/a/auth.json", .warnings = host_.login_warnings};
    }

private:
    FakeHost& host_;
};

base::UniqueFd memory_file(const std::string& content) {
    base::UniqueFd fd(::memfd_create("stream", MFD_CLOEXEC));
    (void)base::write_all(fd.get(), content, "stream");
    (void)::lseek(fd.get(), 0, SEEK_SET);
    return fd;
}

std::string content_of(const base::UniqueFd& fd) {
    (void)::lseek(fd.get(), 0, SEEK_SET);
    auto content = base::read_all(fd.get(), 64_MiB, "stream");
    return content ? std::move(content).value() : std::move(content).error().message;
}

}  // namespace

cli::EngineFactory fake_engines(FakeHost& host) {
    return [&host](EngineOptions options) -> Result<std::unique_ptr<Engine>> {
        host.options = std::move(options);
        if (host.open_error) return *host.open_error;
        return std::unique_ptr<Engine>(std::make_unique<FakeEngine>(host));
    };
}

RunResult exited(int status) {
    RunResult result;
    result.id = "0123456789abcdef";
    result.reason = Reason::exited;
    result.exit_code = status;
    return result;
}

CliRun run_cli(FakeHost& host, const std::vector<std::string>& args, const std::string& input) {
    const auto in = memory_file(input);
    const auto out = memory_file({});
    const auto err = memory_file({});
    const Streams streams{.in = in.get(), .out = out.get(), .err = err.get()};
    const int status = cli::run_cli(args, streams, fake_engines(host));
    return {.status = status, .out = content_of(out), .err = content_of(err)};
}

}  // namespace coracle::testing
