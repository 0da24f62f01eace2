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

}  // namespace

DoctorReport HostEngine::doctor() const {
    const auto program = options_.image_program ? options_.image_program : image_program::find_program();
    DoctorReport report{.findings = plan::diagnose({.host = host_,
                                                    .steps = host::try_namespaces(host_.privileged),
                                                    .runc_version = version_of(places_.store, host_.runc),
                                                    .crun_version = version_of(places_.store, host_.crun),
                                                    .user = login_name(),
                                                    .image_program = program && !program->empty(),
                                                    .systemd = ::access("/run/systemd/system", F_OK) == 0}),
                        .probe = {}};
    Request request;
    request.image = "host";
    request.command = {"true"};
    report.probe = run(request, -1, {});
    return report;
}

}  // namespace coracle::engine
