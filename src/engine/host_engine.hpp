// The Engine of this host: its places, its facts, its store.
#pragma once

#include "content/store.hpp"
#include "coracle/engine.hpp"
#include "engine/configuration.hpp"
#include "engine/places.hpp"
#include "engine/prepared.hpp"
#include "engine/stopwatch.hpp"
#include "host/facts.hpp"
#include "image_program/protocol.hpp"
#include "plan/make_plan.hpp"

namespace coracle::engine {

// Who is told of a pull that a run needs, and where signals come from that end it.
struct PullWatch {
    PullProgress progress{};
    int cancel_fd = -1;
};

class HostEngine final : public Engine {
public:
    HostEngine(EngineOptions options, Configuration configuration, Places places, content::Store store,
               host::HostFacts host)
        : options_(std::move(options)),
          configuration_(std::move(configuration)),
          places_(std::move(places)),
          store_(std::move(store)),
          host_(std::move(host)) {}

    RunResult run(const Request& request, int signal_fd, const PullProgress& progress) const override;
    Result<std::string> explain(const Request& request) const override;
    Result<> write_bundle(const Request& request, const std::filesystem::path& target) const override;
    Result<std::vector<ImageInfo>> import_image(const ImportRequest& request) const override;
    Result<std::vector<ImageInfo>> pull_image(const PullRequest& request, const PullProgress& progress) const override;
    Result<std::vector<ImageInfo>> images() const override;
    DoctorReport doctor() const override;
    Result<std::vector<RunInfo>> runs() const override;
    Result<RunInfo> signal_run(const std::string& id, int signal_number) const override;
    Result<ImageDetails> inspect_image(const std::string& ref) const override;
    Result<> tag_image(const std::string& ref, const std::string& name) const override;
    Result<RemovalReport> remove_images(const std::vector<std::string>& refs) const override;
    Result<RemovalReport> collect_garbage(const GcRequest& request) const override;
    Result<> save_images(const SaveRequest& request) const override;
    Result<DiskUsage> disk_usage() const override;
    Result<LoginDone> login(const LoginRequest& request) const override;
    Result<LoginDone> logout(const LogoutRequest& request) const override;

private:
    // The request's image, pulled where its policy says so.
    Result<image::Image> resolve_image(const Request& request, const PullWatch& watch) const;
    Result<std::vector<ImageInfo>> pull_watched(const PullRequest& request, const PullWatch& watch) const;
    // coracle-image. Error: unsupported where it is not installed.
    Result<std::filesystem::path> image_program_path() const;
    // Error as Engine::login(); unsupported where nobody can say.
    Result<> ask_registry(const std::string& registry, const LoginRequest& request) const;
    // Image, layers and plan; `timing`, where given, takes the stages' times.
    Result<Prepared> prepare(const Request& request, const host::HostFacts& host, const PullWatch& watch = {},
                             Timing* timing = nullptr) const;
    // The facts of the image that the request names; `prepared` and `timing` are filled up.
    Result<plan::ImageFacts> find_image(const Request& request, const PullWatch& watch, Prepared& prepared,
                                        Timing* timing) const;
    // The directories of the image in the form that this host can mount, lowest first.
    Result<std::vector<std::filesystem::path>> unpacked(const image::Image& image) const;
    // One plan for this host and its run.
    Result<> attempt(const Request& request, const host::HostFacts& host, const PullWatch& pull,
                     RunResult& result) const;
    // The run proper; on the way `result` fills up. An Error: nothing of the program ran.
    Result<> run_prepared(const Request& request, const Prepared& prepared, int signal_fd, RunResult& result) const;

    Result<std::vector<ImageInfo>> import_here(const image_program::ImportJob& job, std::optional<int> stream) const;

    EngineOptions options_;
    Configuration configuration_;
    Places places_;
    content::Store store_;
    host::HostFacts host_;
};

}  // namespace coracle::engine
