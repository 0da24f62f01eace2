// The Engine of this host: its places, its facts, its store.
#pragma once

#include "content/store.hpp"
#include "coracle/engine.hpp"
#include "engine/places.hpp"
#include "engine/prepared.hpp"
#include "engine/stopwatch.hpp"
#include "host/facts.hpp"
#include "plan/make_plan.hpp"

namespace coracle::engine {

ImageInfo info_of(const image::Image& image);

class HostEngine final : public Engine {
public:
    HostEngine(EngineOptions options, Places places, content::Store store, host::HostFacts host)
        : options_(std::move(options)), places_(std::move(places)), store_(std::move(store)), host_(std::move(host)) {}

    RunResult run(const Request& request, int signal_fd) const override;
    Result<std::string> explain(const Request& request) const override;
    Result<> write_bundle(const Request& request, const std::filesystem::path& target) const override;
    Result<std::vector<ImageInfo>> import_image(const ImportRequest& request) const override;
    Result<std::vector<ImageInfo>> images() const override;
    Result<ImageDetails> inspect_image(const std::string& ref) const override;
    Result<> tag_image(const std::string& ref, const std::string& name) const override;
    Result<RemovalReport> remove_images(const std::vector<std::string>& refs) const override;
    Result<RemovalReport> collect_garbage(const GcRequest& request) const override;
    Result<> save_images(const SaveRequest& request) const override;
    Result<DiskUsage> disk_usage() const override;

private:
    // Image, layers and plan; `timing`, where given, takes the stages' times.
    Result<Prepared> prepare(const Request& request, Timing* timing) const;
    // The facts of the image that the request names; `prepared` and `timing` are filled up.
    Result<plan::ImageFacts> find_image(const Request& request, Prepared& prepared, Timing* timing) const;
    // The directories of the image in the form that this host can mount, lowest first.
    Result<std::vector<std::filesystem::path>> unpacked(const image::Image& image) const;
    // The run proper; on the way `result` fills up. An Error: nothing of the program ran.
    Result<> run_prepared(const Request& request, const Prepared& prepared, int signal_fd, RunResult& result) const;

    EngineOptions options_;
    Places places_;
    content::Store store_;
    host::HostFacts host_;
};

}  // namespace coracle::engine
