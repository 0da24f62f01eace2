// Implements jobs: from JSON to a pull and back.
#include "pull/serve.hpp"

#include <chrono>
#include <map>
#include <mutex>

#include "base/try.hpp"
#include "handoff/pull_job.hpp"
#include "pull/pull.hpp"

namespace coracle::pull {

namespace {

using oci::Json;
using Emit = std::function<void(const std::string& event)>;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Layers' threads tell more than anybody wants to read.
class Reporter {
public:
    explicit Reporter(const Emit& emit) : emit_(emit) {}

    void take(const PullEvent& event) {
        using Clock = std::chrono::steady_clock;
        const std::lock_guard lock(mutex_);
        const bool whole = event.kind != PullEvent::Kind::layer || event.bytes == 0 || event.bytes == event.total;
        Clock::time_point& last = last_[event.digest];
        const Clock::time_point now = Clock::now();
        if (!whole && now - last < std::chrono::milliseconds(100)) return;
        last = now;
        emit_(dump(handoff::to_json(event)));
    }

private:
    const Emit& emit_;
    std::mutex mutex_;
    std::map<std::string, std::chrono::steady_clock::time_point> last_;
};

ImageInfo info_of(const Pulled& pulled) {
    const image::Image& image = pulled.image;
    return {.ref = image.ref,
            .manifest_digest = image.manifest_digest.str(),
            .platform = oci::to_string({image.config.os, image.config.architecture, image.config.variant}),
            .size = image.size,
            .created = image.config.created,
            .warnings = pulled.warnings};
}

Result<std::vector<ImageInfo>> do_pull(const handoff::PullJob& job, const Progress& progress) {
    TRY(Order order, make_order(job));
    TRY(const content::Store store, content::Store::open(job.store));
    const registry::Patience patience{
        .connect = std::chrono::seconds(20),
        .stall = std::chrono::duration_cast<registry::Milliseconds>(job.request.stall_timeout)};
    const registry::Http http(job.registries, patience);
    TRY(const Pulled pulled, pull(store, http, {.files = job.auth_files}, order, progress));
    return std::vector<ImageInfo>{info_of(pulled)};
}

Result<std::vector<ImageInfo>> do_job(const std::string& text, const Emit& emit) {
    TRY(const Json job, oci::parse_json(text, "job"));
    if (!job.is_object() || !job.contains("pull")) return make_error(ErrorCode::internal, "a job of unknown kind");
    TRY(const handoff::PullJob pull_job, handoff::parse_pull_job(job["pull"]));
    Reporter reporter(emit);
    return do_pull(pull_job, [&reporter](const Event& event) { reporter.take(event); });
}

}  // namespace

std::string serve(const std::string& job, const Emit& emit) {
    const auto images = do_job(job, emit);
    return dump(images ? Json{{"images", handoff::to_json(images.value())}}
                       : Json{{"error", handoff::to_json(images.error())}});
}

}  // namespace coracle::pull
