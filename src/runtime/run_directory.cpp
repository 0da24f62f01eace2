// Implements a run's directory and the search for those whose owner is dead.
#include "runtime/run_directory.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <ctime>

#include "base/files.hpp"
#include "base/try.hpp"

namespace coracle::runtime {

namespace {

constexpr const char* lock_name = "lock";
constexpr const char* record_name = "record.json";

std::string record_text(const std::string& id, const std::vector<std::filesystem::path>& cgroup_parents) {
    nlohmann::json record{{"id", id}, {"cgroup_parents", nlohmann::json::array()}};
    for (const auto& parent : cgroup_parents) record["cgroup_parents"].push_back(parent.string());
    return record.dump() + "\n";
}

StaleRun read_record(int dir_fd, const std::string& id) {
    StaleRun run{.id = id, .cgroup_parents = {}};
    const auto text = base::read_file_at(dir_fd, record_name, 1_MiB);
    if (!text) return run;
    const auto record = nlohmann::json::parse(text.value(), nullptr, false);
    if (!record.is_object() || !record.contains("cgroup_parents") || !record["cgroup_parents"].is_array()) return run;
    for (const auto& parent : record["cgroup_parents"]) {
        if (parent.is_string()) run.cgroup_parents.emplace_back(parent.get<std::string>());
    }
    return run;
}

// A directory without a lock is one that is just being made, unless it is old.
bool is_abandoned(int dir_fd) {
    constexpr std::time_t birth_seconds = 10;
    struct stat status {};
    return ::fstat(dir_fd, &status) == 0 && ::time(nullptr) - status.st_mtime > birth_seconds;
}

}  // namespace

Result<RunDirectory> RunDirectory::create(const std::filesystem::path& runs, const std::string& id,
                                          const std::vector<std::filesystem::path>& cgroup_parents) {
    RunDirectory run(runs, id);
    TRY(base::UniqueFd runs_fd, base::open_dir(runs));
    if (::mkdirat(runs_fd.get(), id.c_str(), 0711) != 0) {
        return os_error("create the run directory '" + (runs / id).string() + "'", errno);
    }
    // Only from here on is it ours to remove: a taken name is another run's directory.
    run.runs_fd_ = std::move(runs_fd);
    TRY(const base::UniqueFd folder, base::open_dir_at(run.runs_fd_.get(), id));
    TRY(run.lock_, base::FileLock::try_acquire(folder.get(), lock_name));
    if (!run.lock_) return make_error(ErrorCode::unavailable, "another process took the new run directory " + id);
    TRY_OK(base::write_new_file_at(folder.get(), record_name, record_text(id, cgroup_parents)));
    TRY_OK(base::make_dir_at(folder.get(), "stage"));
    return run;
}

RunDirectory::~RunDirectory() {
    if (runs_fd_) (void)base::remove_tree_at(runs_fd_.get(), id_);
}

Result<> RunDirectory::write_config(std::string_view json) const {
    return base::write_new_file_at(runs_fd_.get(), id_ + "/config.json", json);
}

Result<> RunDirectory::retire() && {
    const base::UniqueFd runs = std::move(runs_fd_);
    return base::remove_tree_at(runs.get(), id_).at(Stage::remove);
}

std::vector<std::string> run_ids(const std::filesystem::path& runs) {
    const auto folder = base::open_dir(runs);
    if (!folder) return {};
    auto names = base::list_dir(folder.value().get());
    return names ? std::move(names).value() : std::vector<std::string>();
}

std::optional<Doomed> claim_if_dead(const std::filesystem::path& runs, const std::string& id) {
    const auto folder = base::open_dir(runs / id);
    if (!folder) return std::nullopt;
    const int fd = folder.value().get();
    if (!base::exists_at(fd, lock_name) && !is_abandoned(fd)) return std::nullopt;
    auto lock = base::FileLock::try_acquire(fd, lock_name);
    if (!lock || !lock.value()) return std::nullopt;
    return Doomed{.run = read_record(fd, id), .lock = std::move(*lock.value())};
}

void remove_run_directory(const std::filesystem::path& runs, const std::string& id) {
    if (const auto folder = base::open_dir(runs)) (void)base::remove_tree_at(folder.value().get(), id);
}

}  // namespace coracle::runtime
