//! The functions of WASI that are recorded.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, LinkerInstance, Resource};
use wasmtime_wasi::filesystem::WasiFilesystemView as _;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Descriptor, DescriptorFlags, ErrorCode, Host as _, HostDescriptor as _, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::bindings::sync::io::streams::OutputStream;

use super::super::disk::Op;
use super::super::observed::{FILESYSTEM, STREAMS};
use super::Host;

/// What `descriptor.open-at` takes.
pub(super) type OpenArguments = (
    Resource<Descriptor>,
    PathFlags,
    String,
    OpenFlags,
    DescriptorFlags,
);

/// Puts the record in front of everything that changes a disk.
pub(super) fn record(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    type Context<'a> = StoreContextMut<'a, Host>;
    linker.allow_shadowing(true);
    let mut filesystem = linker.instance(FILESYSTEM)?;
    filesystem.func_wrap(
        "[method]descriptor.open-at",
        |mut store: Context<'_>, arguments: OpenArguments| Ok((store.data_mut().open(arguments),)),
    )?;
    filesystem.func_wrap(
        "[method]descriptor.append-via-stream",
        |mut store: Context<'_>, (fd,): (Resource<Descriptor>,)| {
            let host = store.data_mut();
            let file = host.file(fd.rep());
            let mut view = host.filesystem();
            let stream = match view.append_via_stream(fd) {
                Ok(stream) => stream,
                Err(error) => return Ok((Err(view.convert_error_code(error)?),)),
            };
            host.appending.insert(stream.rep(), file);
            Ok((Ok(stream),))
        },
    )?;
    for name in ["[method]descriptor.sync", "[method]descriptor.sync-data"] {
        filesystem.func_wrap(
            name,
            |mut store: Context<'_>, (fd,): (Resource<Descriptor>,)| {
                Ok((store.data_mut().sync(fd.rep()),))
            },
        )?;
    }
    filesystem.func_wrap(
        "[method]descriptor.set-size",
        |mut store: Context<'_>, (fd, size): (Resource<Descriptor>, u64)| {
            let host = store.data_mut();
            let op = Op::SetSize {
                file: host.file(fd.rep()),
                size: usize::try_from(size)?,
            };
            let cut = host.change(op, |host| {
                let mut view = host.filesystem();
                view.set_size(fd, size)
                    .map_err(|error| view.convert_error_code(error).unwrap())
            });
            Ok((cut,))
        },
    )?;
    filesystem.func_wrap(
        "[method]descriptor.rename-at",
        |mut store: Context<'_>,
         (fd, from, new_fd, to): (Resource<Descriptor>, String, Resource<Descriptor>, String)| {
            let op = Op::Rename {
                from: from.clone(),
                to: to.clone(),
            };
            let renamed = store.data_mut().change(op, |host| {
                let mut view = host.filesystem();
                view.rename_at(fd, from, new_fd, to)
                    .map_err(|error| view.convert_error_code(error).unwrap())
            });
            Ok((renamed,))
        },
    )?;
    filesystem.func_wrap(
        "[method]descriptor.unlink-file-at",
        |mut store: Context<'_>, (fd, name): (Resource<Descriptor>, String)| {
            let host = store.data_mut();
            let is_there = host.disk.log().now.named(&name).is_some();
            let act = |host: &mut Host| {
                let mut view = host.filesystem();
                view.unlink_file_at(fd, name.clone())
                    .map_err(|error| view.convert_error_code(error).unwrap())
            };
            // That there is nothing to remove changes nothing.
            let removed = if is_there {
                host.change(Op::Remove { name: name.clone() }, act)
            } else {
                act(host)
            };
            Ok((removed,))
        },
    )?;
    unrecorded(&mut filesystem)?;
    let mut streams = linker.instance(STREAMS)?;
    for (name, flush) in [
        ("[method]output-stream.write", false),
        ("[method]output-stream.blocking-write-and-flush", true),
    ] {
        streams.func_wrap(
            name,
            move |mut store: Context<'_>, (stream, bytes): (Resource<OutputStream>, Vec<u8>)| {
                Ok((store.data_mut().write(stream, bytes, flush),))
            },
        )?;
    }
    Ok(())
}

/// What the memory does not use. Should it begin to, it must be recorded.
fn unrecorded(filesystem: &mut LinkerInstance<'_, Host>) -> wasmtime::Result<()> {
    filesystem.func_wrap(
        "[method]descriptor.write-via-stream",
        |_: StoreContextMut<'_, Host>,
         _: (Resource<Descriptor>, u64)|
         -> wasmtime::Result<(Result<Resource<OutputStream>, ErrorCode>,)> {
            panic!("a change that is not recorded")
        },
    )?;
    filesystem.func_wrap(
        "[method]descriptor.write",
        |_: StoreContextMut<'_, Host>,
         _: (Resource<Descriptor>, Vec<u8>, u64)|
         -> wasmtime::Result<(Result<u64, ErrorCode>,)> {
            panic!("a change that is not recorded")
        },
    )
}
