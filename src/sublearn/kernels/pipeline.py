"""How Numba makes machine code of a kernel: once, of the kernel as a whole.

Left alone, Numba optimises every function by itself and makes machine code of it, and does both again wherever the
function is called. Here functions that only kernels call are linked into their callers, and nothing else is done to
them: less to compile, and somewhat faster kernels, since more is known where they are optimised.

The methods below whose names begin with an underscore stand in for steps of Numba's. Should a later version name these
otherwise, it takes them as ever, and kernels only compile more slowly.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import AnnotateTypes, NativeLowering


class WholeCode(JITCodeLibrary):  # type: ignore[misc]
    """Code of a kernel."""

    _linking_libraries: list[Any]  # Numba's own name for what is linked into this

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave functions to the passes over the whole."""
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Link all functions that are called, also by one another, each once."""
        found = list(self._linking_libraries)
        for library in found:  # which grows
            if isinstance(library, PartCode):
                found += [other for other in library._linking_libraries if other not in found]
        self._linking_libraries = found
        super().finalize()


class PartCode(WholeCode):
    """Code of a function that only kernels call."""

    def finalize(self) -> None:
        """Make no machine code, and link nothing: that is left to the kernel, in which it happens once."""
        self._raise_if_finalized()
        self._finalized = True


class Step(LoweringPass):  # type: ignore[misc]
    """A pass with nothing to set up; Numba wants that said."""

    def __init__(self) -> None:
        super().__init__()


@register_pass(mutates_CFG=False, analysis_only=False)
class OpenWhole(Step):
    """Say what a kernel is lowered to: Numba takes the library that is there."""

    _name = "sublearn_open_whole"

    def run_pass(self, state: Any) -> bool:
        """Give the kernel an empty library, whose code Numba may keep on disk."""
        state.library = WholeCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class OpenPart(Step):
    """Say what a function that only kernels call is lowered to, and that no machine code is asked of it."""

    _name = "sublearn_open_part"

    def run_pass(self, state: Any) -> bool:
        """Give the function an empty library that makes no machine code."""
        state.library = PartCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class EnterPart(Step):
    """Let callers find the function: by an entry of its own, which stands in for one to machine code."""

    _name = "sublearn_enter_part"

    def run_pass(self, state: Any) -> bool:
        """Register the function under an entry of its own."""
        entry = f"{{{state.func_id.func_name}}}".format  # a function of C, new each time; if called, it raises
        state.targetctx.insert_user_function(entry, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=entry)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class FurnishWhole(Step):
    """Give a kernel what the functions linked into it need of Python, such as the texts that they print."""

    _name = "sublearn_furnish_whole"

    def run_pass(self, state: Any) -> bool:
        """Set the environments of all linked functions in the kernel's library."""
        for variable in state.library._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                state.library.codegen.set_env(variable.name, environment)
        return True


class QuickFlags(Flags):  # type: ignore[misc]
    """Flags that are quick to compare: Numba compares every option, by name, for each operator it finds the type of."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuickFlags) and self._values == other._values

    def __hash__(self) -> int:
        return hash(QuickFlags)


class QuickCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler and some passes of ours."""

    steps: tuple[tuple[type, type], ...]  # each with the pass that it follows

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = QuickFlags(self.state.flags)

    def define_pipelines(self) -> list[Any]:
        """All passes of Numba's compiler, with ours among them."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        for step, before in self.steps:
            passes.add_pass_after(step, before)
        passes.finalize()
        return [passes]


class WholeCompiler(QuickCompiler):
    """Compiles kernels."""

    steps = ((OpenWhole, AnnotateTypes), (FurnishWhole, NativeLowering))


class PartCompiler(QuickCompiler):
    """Compiles functions that only kernels call."""

    steps = ((OpenPart, AnnotateTypes), (EnterPart, NativeLowering))
