// Decides which runtime drives the container.
#include "base/try.hpp"
#include "plan/concerns.hpp"

namespace coracle::plan {

namespace {

Error missing(const std::string& name) {
    return make_error(ErrorCode::not_found, "the runtime '" + name + "' is not installed",
                      "install it (Debian: apt-get install " + name + "), or name another with --runtime");
}

Runtime runtime(RuntimeKind kind, std::filesystem::path path) {
    return {.kind = kind, .path = std::move(path), .version = {}};
}

}  // namespace

std::string name_of(const Runtime& runtime) {
    switch (runtime.kind) {
        case RuntimeKind::runc: return "runc";
        case RuntimeKind::crun: return "crun";
        case RuntimeKind::other: break;
    }
    return runtime.path.filename().string();
}

Result<Runtime> choose_runtime(const Request& request, const host::HostFacts& host) {
    const std::string wanted = request.runtime.value_or("runc");
    if (wanted == "auto") {
        // crun starts a container in about half of runc's time.
        if (host.crun) return runtime(RuntimeKind::crun, host.crun->path);
        if (host.runc) return runtime(RuntimeKind::runc, host.runc->path);
        return missing("runc");
    }
    if (wanted == "runc") return host.runc ? Result(runtime(RuntimeKind::runc, host.runc->path)) : missing("runc");
    if (wanted == "crun") return host.crun ? Result(runtime(RuntimeKind::crun, host.crun->path)) : missing("crun");
    const std::filesystem::path path = wanted;
    if (!path.is_absolute()) {
        return make_error(ErrorCode::invalid_request, "--runtime '" + wanted + "': not a runtime",
                          "name runc, crun, auto or an absolute path");
    }
    const std::string name = path.filename().string();
    if (name.find("crun") != std::string::npos) return runtime(RuntimeKind::crun, path);
    return runtime(name.find("runc") != std::string::npos ? RuntimeKind::runc : RuntimeKind::other, path);
}

}  // namespace coracle::plan
