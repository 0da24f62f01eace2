// Implements Engine::doctor: facts, steps, findings, and one real sandbox last.
#include <unistd.h>

#include <cstdlib>

#include "engine/host_engine.hpp"
#include "engine/runtime_version.hpp"
#include "image_program/client.hpp"
#include "plan/diagnose.hpp"

namespace coracle::engine {

namespace {

// For a command that the reader will copy; a static program cannot ask the name service.
std::string login_name() {
    for (const char* variable : {"USER", "LOGNAME"}) {
        if (const char* const name = std::getenv(variable)) return name;
    }
    return std::to_string(::geteuid());
}

std::string version_of(const std::filesystem::path& store, const std::optional<host::Program>& program) {
    return program ? runtime_version(store, program->path) : std::string();
}

// Whether the user's service manager gives a scope shows only when it is asked for one.
host::HostFacts as_seen(host::HostFacts host, const RunResult& probe) {
    if (host.user_manager && probe.host_cgroup == "none" && !probe.limits.degraded.empty()) {
        host.user_manager->refusal = probe.limits.degraded.front().reason;
    }
    return host;
}

}  // namespace

DoctorReport HostEngine::doctor() const {
    const auto program = options_.image_program ? options_.image_program : image_program::find_program();
    Request request;
    request.image = "host";
    request.command = {"true"};
    RunResult probe = run(request, -1, {});
    DoctorReport report{.findings = plan::diagnose({.host = as_seen(host_, probe),
                                                    .steps = host::try_namespaces(host_.privileged),
                                                    .runc_version = version_of(places_.store, host_.runc),
                                                    .crun_version = version_of(places_.store, host_.crun),
                                                    .user = login_name(),
                                                    .image_program = program && !program->empty(),
                                                    .systemd = ::access("/run/systemd/system", F_OK) == 0}),
                        .probe = std::move(probe)};
    return report;
}

}  // namespace coracle::engine
