// The Engine of this host: its places, its facts, its store.
#pragma once

#include "content/store.hpp"
#include "coracle/engine.hpp"
#include "engine/configuration.hpp"
#include "engine/places.hpp"
#include "engine/prepared.hpp"
#include "engine/stopwatch.hpp"
#include "host/facts.hpp"

namespace coracle::engine {

class HostEngine final : public Engine {
public:
    HostEngine(EngineOptions options, Configuration configuration, Places places, content::Store store,
               host::HostFacts host)
        : options_(std::move(options)),
          configuration_(std::move(configuration)),
          places_(std::move(places)),
          store_(std::move(store)),
          host_(std::move(host)) {}

    RunResult run(const Request& request, int signal_fd) const override;
    Result<std::string> explain(const Request& request) const override;
    Result<> write_bundle(const Request& request, const std::filesystem::path& target) const override;
    Result<std::vector<ImageInfo>> import_image(const ImportRequest& request) const override;
    Result<std::vector<ImageInfo>> images() const override;
    Result<LoginDone> login(const LoginRequest& request) const override;
    Result<LoginDone> logout(const LogoutRequest& request) const override;

private:
    // Image, layers and plan; `timing`, where given, takes the stages' times.
    Result<Prepared> prepare(const Request& request, Timing* timing) const;
    // The run proper; on the way `result` fills up. An Error: nothing of the program ran.
    Result<> run_prepared(const Request& request, const Prepared& prepared, int signal_fd, RunResult& result) const;

    EngineOptions options_;
    Configuration configuration_;
    Places places_;
    content::Store store_;
    host::HostFacts host_;
};

}  // namespace coracle::engine
