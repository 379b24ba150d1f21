"""Records that compiled functions pass on by reference: one pointer, not seven numbers for each array in them.

Numba hands a named tuple from function to function as all that is in it. A record that went through `refer` is a
pointer to it: fields are read where they are used, and a field that is a record is a reference too. Kernels with many
records are compiled in less time so, and run faster. What is referred to does not change, though its arrays may.

A reference keeps no array alive, so records come from outside: references are for bare kernels, which allocate nothing.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, register_model

from sublearn.kernels.compilation import in_python


class Reference(types.Type):  # type: ignore[misc]
    """A reference to a record of this type."""

    def __init__(self, record: Any) -> None:
        self.record = record
        super().__init__(name=f"reference({record.name})")


@register_model(Reference)
class _Pointer(PrimitiveModel):  # type: ignore[misc]
    """How compiled code holds a reference."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, manager.lookup(kind.record).get_value_type().as_pointer())


def _is_record(kind: Any) -> bool:
    return isinstance(kind, types.BaseNamedTuple)


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    """The types of a reference's fields."""

    key = Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:
        """The type of a field, or None where there is none of this name."""
        record = reference.record
        if name not in record.fields:
            return None
        kind = record.types[record.fields.index(name)]
        return Reference(kind) if _is_record(kind) else kind


@lower_getattr_generic(Reference)
def _get_field(context: Any, builder: Any, reference: Any, pointer: Any, name: str) -> Any:
    """Code that reads a field."""
    i = reference.record.fields.index(name)
    place = cgutils.gep_inbounds(builder, pointer, 0, i)
    return place if _is_record(reference.record.types[i]) else builder.load(place)


@in_python(lambda record: record)
@intrinsic
def refer(_: Any, record: Any) -> Any:
    """A reference to a record, for as long as the function runs that asks for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = cgutils.alloca_once(builder, arguments[0].type)
        builder.store(arguments[0], place)
        return place

    if isinstance(record, Reference):
        return record(record), lambda context, builder, signature, arguments: arguments[0]
    return Reference(record)(record), generate
