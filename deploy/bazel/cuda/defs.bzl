"""cuda_object: an object file from one .cu source, by the nvcc of /usr/local/cuda.

It holds machine code for sm_80 and sm_90, and PTX, which drivers compile for newer GPUs. The
resource report of every kernel goes to NAME.ptxas beside it.
"""

_NVCC = "/usr/local/cuda/bin/nvcc"
_FLAGS = [
    "-std=c++17",
    "-O3",
    "-DNDEBUG",
    "-lineinfo",
    "-Werror=all-warnings",
    "-Xcompiler=-fPIC,-Wall",
    "-Xptxas=-v",
    "-gencode=arch=compute_80,code=sm_80",
    "-gencode=arch=compute_90,code=sm_90",
    "-gencode=arch=compute_90,code=compute_90",
]

def _cuda_object_impl(ctx):
    source = ctx.file.src
    object_file = ctx.actions.declare_file(ctx.label.name + ".pic.o")
    report = ctx.actions.declare_file(ctx.label.name + ".ptxas")
    headers = depset(
        direct = ctx.files.hdrs,
        transitive = [dep[CcInfo].compilation_context.headers for dep in ctx.attr.deps],
    )

    # The report is shown only when nvcc fails.
    ctx.actions.run_shell(
        inputs = depset(direct = [source], transitive = [headers]),
        outputs = [object_file, report],
        command = '"$@" > {report} 2>&1 || {{ cat {report}; exit 1; }}'.format(report = report.path),
        arguments = [_NVCC] + _FLAGS + ["-I.", "-c", source.path, "-o", object_file.path],
        mnemonic = "CudaCompile",
        progress_message = "Compiling %s with nvcc" % source.short_path,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([object_file])), OutputGroupInfo(ptxas = depset([report]))]

cuda_object = rule(
    implementation = _cuda_object_impl,
    attrs = {
        "src": attr.label(allow_single_file = [".cu"], mandatory = True),
        "hdrs": attr.label_list(allow_files = [".h", ".cuh"]),
        "deps": attr.label_list(providers = [CcInfo]),
    },
)
