// Implements the packing of the messages between coracle and the keeper.
#include "runtime/keeper_protocol.hpp"

#include "base/wire.hpp"

namespace coracle::runtime {

namespace {

using base::WireReader;
using base::WireWriter;

WireWriter begin(KeeperSays kind) {
    WireWriter writer;
    writer.number(static_cast<std::uint64_t>(kind));
    return writer;
}

template <class T, class Fill>
std::optional<T> unpack(std::string_view bytes, KeeperSays kind, Fill fill) {
    WireReader reader(bytes);
    if (reader.number() != static_cast<std::uint64_t>(kind)) return std::nullopt;
    T value;
    fill(reader, value);
    if (!reader.good()) return std::nullopt;
    return value;
}

void write_rootfs(WireWriter& writer, const KeeperRootfs& rootfs) {
    writer.number(rootfs.overlay).texts(rootfs.lowers).number(rootfs.user_xattr).number(rootfs.read_only);
    writer.number(rootfs.upper_bytes).number(rootfs.mount_points.size());
    for (const KeeperMountPoint& point : rootfs.mount_points) {
        writer.text(point.path).number(point.mode).number(point.file).number(point.on_top);
    }
    writer.number(rootfs.generated.size());
    for (const KeeperFile& file : rootfs.generated) writer.text(file.path).text(file.content).number(file.mode);
}

KeeperRootfs read_rootfs(WireReader& reader) {
    KeeperRootfs rootfs;
    rootfs.overlay = reader.number() != 0;
    rootfs.lowers = reader.texts();
    rootfs.user_xattr = reader.number() != 0;
    rootfs.read_only = reader.number() != 0;
    rootfs.upper_bytes = reader.number();
    for (std::uint64_t left = reader.number(); left > 0 && reader.good(); --left) {
        KeeperMountPoint point;
        point.path = reader.text();
        point.mode = static_cast<mode_t>(reader.number());
        point.file = reader.number() != 0;
        point.on_top = reader.number() != 0;
        rootfs.mount_points.push_back(std::move(point));
    }
    for (std::uint64_t left = reader.number(); left > 0 && reader.good(); --left) {
        KeeperFile file;
        file.path = reader.text();
        file.content = reader.text();
        file.mode = static_cast<mode_t>(reader.number());
        rootfs.generated.push_back(std::move(file));
    }
    return rootfs;
}

}  // namespace

StagePaths stage_paths(const std::string& stage) {
    return {.root = stage + "/root",
            .state = stage + "/state",
            .pid_file = stage + "/init.pid",
            .log = stage + "/runtime.log",
            .stderr_file = stage + "/runtime.stderr"};
}

std::string pack(const KeeperJob& job) {
    WireWriter writer = begin(KeeperSays::job);
    writer.number(static_cast<std::uint64_t>(job.ids)).number(job.outer_uid).number(job.outer_gid).text(job.stage);
    write_rootfs(writer, job.rootfs);
    writer.text(job.cgroup.v2_directory).texts(job.cgroup.v1_tasks).text(job.cgroup.view).texts(job.runtime_argv);
    return std::move(writer).take();
}

std::optional<KeeperJob> unpack_keeper_job(std::string_view bytes) {
    return unpack<KeeperJob>(bytes, KeeperSays::job, [](WireReader& reader, KeeperJob& job) {
        job.ids = static_cast<KeeperIds>(reader.number());
        job.outer_uid = static_cast<uid_t>(reader.number());
        job.outer_gid = static_cast<gid_t>(reader.number());
        job.stage = reader.text();
        job.rootfs = read_rootfs(reader);
        job.cgroup.v2_directory = reader.text();
        job.cgroup.v1_tasks = reader.texts();
        job.cgroup.view = reader.text();
        job.runtime_argv = reader.texts();
    });
}

std::string pack(const KeeperCreated& created) {
    WireWriter writer = begin(KeeperSays::created);
    writer.number(static_cast<std::uint64_t>(created.rootfs_done_ns));
    writer.number(static_cast<std::uint64_t>(created.created_ns));
    return std::move(writer).take();
}

std::optional<KeeperCreated> unpack_keeper_created(std::string_view bytes) {
    return unpack<KeeperCreated>(bytes, KeeperSays::created, [](WireReader& reader, KeeperCreated& created) {
        created.rootfs_done_ns = static_cast<std::int64_t>(reader.number());
        created.created_ns = static_cast<std::int64_t>(reader.number());
    });
}

std::string pack(const KeeperFailed& failed) {
    WireWriter writer = begin(KeeperSays::failed);
    writer.number(static_cast<std::uint64_t>(failed.error.code)).text(failed.error.message).text(failed.error.hint);
    writer.number(static_cast<std::uint64_t>(failed.error.stage.value_or(Stage::create)));
    writer.number(static_cast<std::uint64_t>(failed.error.os_errno));
    writer.text(failed.runtime_log).text(failed.runtime_stderr);
    return std::move(writer).take();
}

std::optional<KeeperFailed> unpack_keeper_failed(std::string_view bytes) {
    return unpack<KeeperFailed>(bytes, KeeperSays::failed, [](WireReader& reader, KeeperFailed& failed) {
        failed.error.code = static_cast<ErrorCode>(reader.number());
        failed.error.message = reader.text();
        failed.error.hint = reader.text();
        failed.error.stage = static_cast<Stage>(reader.number());
        failed.error.os_errno = static_cast<int>(reader.number());
        failed.runtime_log = reader.text();
        failed.runtime_stderr = reader.text();
    });
}

std::string pack(const KeeperExited& exited) {
    WireWriter writer = begin(KeeperSays::exited);
    writer.number(static_cast<std::uint64_t>(exited.wait_status)).number(static_cast<std::uint64_t>(exited.user_us));
    writer.number(static_cast<std::uint64_t>(exited.system_us)).number(exited.max_rss);
    return std::move(writer).take();
}

std::optional<KeeperExited> unpack_keeper_exited(std::string_view bytes) {
    return unpack<KeeperExited>(bytes, KeeperSays::exited, [](WireReader& reader, KeeperExited& exited) {
        exited.wait_status = static_cast<int>(reader.number());
        exited.user_us = static_cast<std::int64_t>(reader.number());
        exited.system_us = static_cast<std::int64_t>(reader.number());
        exited.max_rss = reader.number();
    });
}

}  // namespace coracle::runtime
