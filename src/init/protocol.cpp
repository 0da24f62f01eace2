// Implements the packing of the messages between coracle and init.
#include "init/protocol.hpp"

#include "base/wire.hpp"

namespace coracle::init {

namespace {

using base::WireReader;
using base::WireWriter;

WireWriter begin(Kind kind) {
    WireWriter writer;
    writer.number(static_cast<std::uint64_t>(kind));
    return writer;
}

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::int64_t signed_number(WireReader& reader) { return static_cast<std::int64_t>(reader.number()); }

// Reads a message of one kind with `fill(reader, value)`; nothing where kind or length are wrong.
template <class T, class Fill>
std::optional<T> unpack(std::string_view bytes, Kind kind, Fill fill) {
    WireReader reader(bytes);
    if (reader.number() != static_cast<std::uint64_t>(kind)) return std::nullopt;
    T value;
    fill(reader, value);
    if (!reader.good()) return std::nullopt;
    return value;
}

}  // namespace

std::string pack(const Job& job) {
    WireWriter writer = begin(Kind::job);
    writer.texts(job.argv).texts(job.env).text(job.cwd).text(job.seccomp);
    return std::move(writer).take();
}

std::string pack(const Signal& signal) {
    WireWriter writer = begin(Kind::signal);
    writer.number(bits(signal.number));
    return std::move(writer).take();
}

std::string pack(const Ready&) { return begin(Kind::ready).take(); }

std::string pack(const Started& started) {
    WireWriter writer = begin(Kind::started);
    writer.number(bits(started.at_ns))
        .number(started.held.capabilities)
        .number(bits(started.held.no_new_privileges))
        .number(bits(started.held.seccomp))
        .texts(started.held.namespaces)
        .number(started.held.open_files)
        .number(started.held.processes)
        .number(started.held.file_size);
    return std::move(writer).take();
}

std::string pack(const Failed& failed) {
    WireWriter writer = begin(Kind::failed);
    writer.number(static_cast<std::uint64_t>(failed.step)).number(bits(failed.os_errno));
    return std::move(writer).take();
}

std::string pack(const Exited& exited) {
    WireWriter writer = begin(Kind::exited);
    writer.number(bits(exited.wait_status))
        .number(bits(exited.at_ns))
        .number(bits(exited.user_us))
        .number(bits(exited.system_us));
    return std::move(writer).take();
}

std::optional<Kind> kind_of(std::string_view bytes) {
    WireReader reader(bytes);
    const std::uint64_t number = reader.number();
    if (number < static_cast<std::uint64_t>(Kind::job) || number > static_cast<std::uint64_t>(Kind::exited)) return {};
    return static_cast<Kind>(number);
}

std::optional<Job> unpack_job(std::string_view bytes) {
    return unpack<Job>(bytes, Kind::job, [](WireReader& reader, Job& job) {
        job.argv = reader.texts();
        job.env = reader.texts();
        job.cwd = reader.text();
        job.seccomp = reader.text();
    });
}

std::optional<Signal> unpack_signal(std::string_view bytes) {
    return unpack<Signal>(bytes, Kind::signal, [](WireReader& reader, Signal& signal) {
        signal.number = static_cast<int>(signed_number(reader));
    });
}

std::optional<Started> unpack_started(std::string_view bytes) {
    return unpack<Started>(bytes, Kind::started, [](WireReader& reader, Started& started) {
        started.at_ns = signed_number(reader);
        started.held.capabilities = reader.number();
        started.held.no_new_privileges = static_cast<int>(signed_number(reader));
        started.held.seccomp = static_cast<int>(signed_number(reader));
        started.held.namespaces = reader.texts();
        started.held.open_files = reader.number();
        started.held.processes = reader.number();
        started.held.file_size = reader.number();
    });
}

std::optional<Failed> unpack_failed(std::string_view bytes) {
    return unpack<Failed>(bytes, Kind::failed, [](WireReader& reader, Failed& failed) {
        failed.step = static_cast<Failed::Step>(reader.number());
        failed.os_errno = static_cast<int>(signed_number(reader));
    });
}

std::optional<Exited> unpack_exited(std::string_view bytes) {
    return unpack<Exited>(bytes, Kind::exited, [](WireReader& reader, Exited& exited) {
        exited.wait_status = static_cast<int>(signed_number(reader));
        exited.at_ns = signed_number(reader);
        exited.user_us = signed_number(reader);
        exited.system_us = signed_number(reader);
    });
}

}  // namespace coracle::init
