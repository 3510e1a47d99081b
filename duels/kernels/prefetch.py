"""Prefetching of memory for the next rows of a batch, which the processor cannot predict."""

from __future__ import annotations

import importlib
from typing import Any

from duels.kernels import Array, have_numba

if not have_numba():

    def fetch(array: Array, row: int) -> None:
        """Prefetch the first cache line of a row, without waiting for it."""

else:
    cgutils: Any = importlib.import_module("numba.core.cgutils")
    types: Any = importlib.import_module("numba.core.types")
    ir: Any = importlib.import_module("llvmlite.ir")

    @importlib.import_module("numba.extending").intrinsic  # type: ignore[untyped-decorator]
    def fetch(typing: Any, array: Any, row: Any) -> Any:
        """Prefetch the first cache line of a row, without waiting for it."""

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            kind = signature.args[0]
            found = context.make_array(kind)(context, builder, given[0])
            place = [given[1], *[given[1].type(0)] * (kind.ndim - 1)]
            at = builder.bitcast(
                cgutils.get_item_pointer(context, builder, kind, found, place), cgutils.voidptr_t
            )
            word = ir.IntType(32)
            declared = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
            prefetch = builder.module.declare_intrinsic(
                "llvm.prefetch", [cgutils.voidptr_t], declared
            )
            builder.call(
                prefetch, [at, word(0), word(3), word(1)]
            )  # for reading, high temporal locality, data cache
            return context.get_dummy_value()

        return types.void(array, types.int64), generate
