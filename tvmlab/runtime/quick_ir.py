"""The short way into a kernel, written as LLVM IR: a built-in function for Python to call.

It checks NumPy arrays against a table, releases Python's lock, runs the kernel, and returns its
code. One function serves all kernels: the table is the bytes object that is its `self`. The words
of a table, 8 bytes each, are written by `quick.py`:

    addresses: PyLong_FromLong, PyEval_SaveThread, PyEval_RestoreThread, numpy.ndarray,
               the kernel, its parallel_for
    number of parameters
    for each parameter: number of dimensions, dtype object, flags that must be set,
               alignment - 1, size in bytes, whether it is written, each dimension
"""

from __future__ import annotations

ENTRY = "tvmlab_enter"
MOST_PARAMETERS = 64
HEAD_WORDS = 7
PARAMETER_WORDS = 6
CLOSER_LOOK = -1
"""Returned if an argument does not fit at a glance; kernels return codes from 0."""

DATA, NDIM, DIMENSIONS, DTYPE, FLAGS = 0, 8, 16, 40, 48
"""Where the fields of NumPy's array object are, in bytes after the header: part of its C API."""

HEADER = 16
"""Bytes of every object's header, its type last, where Python has its global lock."""

BYTES_START = 32
"""Where the content of a bytes object begins."""

QUICK_IR = f"""
%param = type {{ i64, ptr, i64, i64, i64, i64 }}

define ptr @{ENTRY}(ptr %self, ptr %args, i64 %count) {{
entry:
  %starts = alloca [{MOST_PARAMETERS} x i64], align 16
  %ends = alloca [{MOST_PARAMETERS} x i64], align 16
  %writes = alloca [{MOST_PARAMETERS} x i64], align 16
  %table = getelementptr i8, ptr %self, i64 {BYTES_START}
  %to_int = load ptr, ptr %table, align 8
  %save_at = getelementptr i64, ptr %table, i64 1
  %save = load ptr, ptr %save_at, align 8
  %restore_at = getelementptr i64, ptr %table, i64 2
  %restore = load ptr, ptr %restore_at, align 8
  %array_at = getelementptr i64, ptr %table, i64 3
  %array_type = load ptr, ptr %array_at, align 8
  %kernel_at = getelementptr i64, ptr %table, i64 4
  %kernel = load ptr, ptr %kernel_at, align 8
  %for_at = getelementptr i64, ptr %table, i64 5
  %parallel_for = load ptr, ptr %for_at, align 8
  %wanted_at = getelementptr i64, ptr %table, i64 6
  %wanted = load i64, ptr %wanted_at, align 8
  %first = getelementptr i64, ptr %table, i64 {HEAD_WORDS}
  %as_many = icmp eq i64 %count, %wanted
  br i1 %as_many, label %next, label %closer

next:
  %n = phi i64 [ 0, %entry ], [ %n1, %fits ]
  %param = phi ptr [ %first, %entry ], [ %dim_end, %fits ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %look, label %run

look:
  %arg_at = getelementptr ptr, ptr %args, i64 %n
  %arg = load ptr, ptr %arg_at, align 8
  %type_at = getelementptr i8, ptr %arg, i64 {HEADER - 8}
  %type = load ptr, ptr %type_at, align 8
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %kind, label %closer

kind:
  %array = getelementptr i8, ptr %arg, i64 {HEADER}
  %rank = load i64, ptr %param, align 8
  %own_rank_at = getelementptr i8, ptr %array, i64 {NDIM}
  %own_rank32 = load i32, ptr %own_rank_at, align 4
  %own_rank = sext i32 %own_rank32 to i64
  %rank_fits = icmp eq i64 %rank, %own_rank
  %dtype_at = getelementptr %param, ptr %param, i64 0, i32 1
  %dtype = load ptr, ptr %dtype_at, align 8
  %own_dtype_at = getelementptr i8, ptr %array, i64 {DTYPE}
  %own_dtype = load ptr, ptr %own_dtype_at, align 8
  %dtype_fits = icmp eq ptr %dtype, %own_dtype
  %flags_at = getelementptr %param, ptr %param, i64 0, i32 2
  %flags = load i64, ptr %flags_at, align 8
  %own_flags_at = getelementptr i8, ptr %array, i64 {FLAGS}
  %own_flags32 = load i32, ptr %own_flags_at, align 4
  %own_flags = zext i32 %own_flags32 to i64
  %set = and i64 %flags, %own_flags
  %flags_fit = icmp eq i64 %set, %flags
  %aligned_at = getelementptr %param, ptr %param, i64 0, i32 3
  %mask = load i64, ptr %aligned_at, align 8
  %data = load i64, ptr %array, align 8
  %beyond = and i64 %data, %mask
  %aligned = icmp eq i64 %beyond, 0
  %somewhere = icmp ne i64 %data, 0
  %ok1 = and i1 %rank_fits, %dtype_fits
  %ok2 = and i1 %flags_fit, %aligned
  %ok3 = and i1 %ok1, %ok2
  %ok = and i1 %ok3, %somewhere
  br i1 %ok, label %shape, label %closer

shape:
  %dims = getelementptr i64, ptr %param, i64 {PARAMETER_WORDS}
  %dim_end = getelementptr i64, ptr %dims, i64 %rank
  %own_dims_at = getelementptr i8, ptr %array, i64 {DIMENSIONS}
  %own_dims = load ptr, ptr %own_dims_at, align 8
  br label %dim
dim:
  %d = phi i64 [ 0, %shape ], [ %d1, %same ]
  %inside = icmp slt i64 %d, %rank
  br i1 %inside, label %compare, label %place
compare:
  %size_at = getelementptr i64, ptr %dims, i64 %d
  %size = load i64, ptr %size_at, align 8
  %own_size_at = getelementptr i64, ptr %own_dims, i64 %d
  %own_size = load i64, ptr %own_size_at, align 8
  %equal = icmp eq i64 %size, %own_size
  br i1 %equal, label %same, label %closer
same:
  %d1 = add nuw nsw i64 %d, 1
  br label %dim

place:
  %bytes_at = getelementptr %param, ptr %param, i64 0, i32 4
  %bytes = load i64, ptr %bytes_at, align 8
  %end = add i64 %data, %bytes
  %written_at = getelementptr %param, ptr %param, i64 0, i32 5
  %written = load i64, ptr %written_at, align 8
  %start_slot = getelementptr i64, ptr %starts, i64 %n
  store i64 %data, ptr %start_slot, align 8
  %end_slot = getelementptr i64, ptr %ends, i64 %n
  store i64 %end, ptr %end_slot, align 8
  %write_slot = getelementptr i64, ptr %writes, i64 %n
  store i64 %written, ptr %write_slot, align 8
  br label %other
other:
  %o = phi i64 [ 0, %place ], [ %o1, %apart ]
  %earlier = icmp slt i64 %o, %n
  br i1 %earlier, label %meet, label %fits
meet:
  %o_start_slot = getelementptr i64, ptr %starts, i64 %o
  %o_start = load i64, ptr %o_start_slot, align 8
  %o_end_slot = getelementptr i64, ptr %ends, i64 %o
  %o_end = load i64, ptr %o_end_slot, align 8
  %o_write_slot = getelementptr i64, ptr %writes, i64 %o
  %o_write = load i64, ptr %o_write_slot, align 8
  %any_write = or i64 %o_write, %written
  %some_write = icmp ne i64 %any_write, 0
  %before = icmp ult i64 %data, %o_end
  %after = icmp ult i64 %o_start, %end
  %shared0 = and i1 %before, %after
  %shared = and i1 %shared0, %some_write
  br i1 %shared, label %closer, label %apart
apart:
  %o1 = add nuw nsw i64 %o, 1
  br label %other
fits:
  %n1 = add nuw nsw i64 %n, 1
  br label %next

run:
  %state = call ptr %save()
  %code32 = call i32 %kernel(ptr %starts, ptr %parallel_for)
  call void %restore(ptr %state)
  %code = sext i32 %code32 to i64
  br label %done
closer:
  br label %done
done:
  %answer = phi i64 [ %code, %run ], [ {CLOSER_LOOK}, %closer ]
  %result = tail call ptr %to_int(i64 %answer)
  ret ptr %result
}}
"""
