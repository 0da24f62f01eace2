// Implements the Engine's view of runs that other processes have.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/try.hpp"
#include "engine/host_engine.hpp"
#include "runtime/run_directory.hpp"

namespace coracle::engine {

namespace {

namespace fs = std::filesystem;

struct Found {
    fs::path runs;
    RunInfo info;
};

// Where users' runs lie unless they say otherwise (places.cpp); only root can read there.
std::vector<fs::path> places_of_users() {
    std::vector<fs::path> places;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/run/user", ignored)) places.push_back(entry.path() / "coracle");
    for (const auto& entry : fs::directory_iterator("/tmp", ignored)) {
        if (entry.path().filename().string().starts_with("coracle-runs-")) places.push_back(entry.path());
    }
    return places;
}

void find_in(const fs::path& runs, std::vector<Found>& found) {
    struct stat status {};
    if (::lstat(runs.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
    for (runtime::LiveRun& run : runtime::live_runs(runs)) {
        found.push_back({.runs = runs,
                         .info = {.id = std::move(run.id),
                                  .image = std::move(run.record.image),
                                  .command = std::move(run.record.command),
                                  .uid = status.st_uid,
                                  .pid = run.record.pid,
                                  .started = run.record.started,
                                  .wall_time = run.record.wall_time}});
    }
}

std::vector<Found> find_all(const fs::path& own) {
    std::vector<Found> found;
    find_in(own, found);
    if (::geteuid() == 0) {
        for (const fs::path& place : places_of_users()) find_in(place, found);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return a.info.started < b.info.started; });
    return found;
}

}  // namespace

Result<std::vector<RunInfo>> HostEngine::runs() const {
    std::vector<RunInfo> infos;
    for (Found& found : find_all(places_.runs)) infos.push_back(std::move(found.info));
    return infos;
}

Result<RunInfo> HostEngine::signal_run(const std::string& id, int signal_number) const {
    std::vector<Found> found = find_all(places_.runs);
    std::erase_if(found, [&id](const Found& run) { return id.empty() || !run.info.id.starts_with(id); });
    if (found.empty()) {
        return make_error(ErrorCode::not_found, "no run '" + id + "' is alive", "coracle ps lists those that are");
    }
    if (found.size() > 1) {
        return make_error(ErrorCode::invalid_request, "several runs begin with '" + id + "'", "write more of the id");
    }
    TRY_OK(runtime::send_control(found.front().runs, found.front().info.id, signal_number));
    return std::move(found.front().info);
}

}  // namespace coracle::engine
